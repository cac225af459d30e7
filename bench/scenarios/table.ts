import type { Scenario } from '../run.ts';
import type { Bench } from './bench.ts';
import { hits } from './hits.ts';
import { memory } from './memory.ts';
import { misses } from './misses.ts';
import { mix } from './mix.ts';
import { overload } from './overload.ts';
import { prewarm } from './prewarm.ts';
import { published } from './published.ts';
import { scores } from './scores.ts';
import { start } from './start.ts';

/** The scenarios of `npm run bench`, in execution order. */
export const scenarios: Readonly<Record<string, Scenario<Bench>>> = {
  hits,
  misses,
  mix,
  overload,
  memory,
  start,
  prewarm,
  published,
  scores,
};
