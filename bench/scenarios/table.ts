import { freshness } from './freshness.ts';
import { growth } from './growth.ts';
import { hits } from './hits.ts';
import { memory } from './memory.ts';
import { misses } from './misses.ts';
import { mix } from './mix.ts';
import { overload } from './overload.ts';
import { quality } from './quality.ts';
import { scale } from './scale.ts';
import type { Scenario } from './scenario.ts';
import { start } from './start.ts';

/** All scenarios, in the order in which they run. */
export const scenarios = {
  hits,
  misses,
  quality,
  mix,
  overload,
  memory,
  start,
  freshness,
  scale,
  growth,
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;

export const scenarioNames = Object.keys(scenarios) as ScenarioName[];

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(scenarios, name);
