import { Command, InvalidArgumentError } from 'commander';
import { numberFrom } from '../demo/arguments.ts';
import { meterHelp } from './meter.ts';
import type { Scenario } from './run.ts';
import type { Bench } from './scenarios/bench.ts';
import { equalQuality } from './scenarios/equal-quality.ts';
import { hits } from './scenarios/hits.ts';
import { memory } from './scenarios/memory.ts';
import { misses } from './scenarios/misses.ts';
import { mix } from './scenarios/mix.ts';
import { overload } from './scenarios/overload.ts';
import { prewarm } from './scenarios/prewarm.ts';
import { published } from './scenarios/published.ts';
import { start } from './scenarios/start.ts';
import { encodedSource, encoderOptions, type ImageServer } from './servers/server.ts';

/** The scenarios of `npm run bench`, in execution order. */
export const scenarios: Readonly<Record<string, Scenario<Bench>>> = {
  hits,
  misses,
  mix,
  overload,
  memory,
  start,
  'equal-quality': equalQuality,
  prewarm,
  published,
};

/** The placeholders of a template. */
export const urlPlaceholders = {
  url: 'the source’s URL, percent-encoded',
  width: 'the width of the image in pixels',
  height: 'the height of the box in which it must fit, or 0',
  format: 'jpeg, webp or avif, and png with --photographs',
  quality: 'the quality on the encoder’s own scale',
} as const;

/** The command line of `npm run bench`. */
export interface BenchOptions {
  readonly quick?: boolean;
  /** Names of scenarios. */
  readonly only?: readonly string[];
  readonly folder: string;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly peer?: readonly Peer[];
  readonly photographs?: string;
  readonly ssimulacra2?: string;
  readonly peerPid?: ReadonlyMap<string, number>;
}

const scenarioNames = Object.keys(scenarios).join(',');

function names(text: string): string[] {
  return text.split(',').map((name) => {
    if (Object.hasOwn(scenarios, name)) return name;
    throw new InvalidArgumentError(`One or several of ${scenarioNames}.`);
  });
}

function pid(text: string, before: ReadonlyMap<string, number> = new Map()): Map<string, number> {
  const [, name = '', id = ''] = /^(.+)=(\d+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be name=number.');
  return new Map([...before, [name, Number(id)]]);
}

const listed = Object.entries(scenarios).map(([name, { title }]) => `  ${name}: ${title}`);
const words = Object.entries(urlPlaceholders).map(([word, meaning]) => `  {${word}}  ${meaning}`);

/** Ends the process with a message when the arguments are wrong. */
export function readBenchOptions(): BenchOptions {
  return new Command('bench')
    .description(
      'Compares the service with what the machine can do and with other servers, in turns, and writes a report with tables. Takes about an hour. Goals that are missed are reported and do not change the exit code, which is 1 when a scenario could not be measured.',
    )
    .option('--quick', 'every ratio in about four minutes; the figures are preliminary')
    .option('--only <scenarios>', `only these, comma-separated: ${scenarioNames}`, names)
    .option('--folder <path>', 'where report.md is written', 'data/bench')
    .option('--rounds <n>', 'rounds of each comparison (5; quick: 2)', numberFrom(1, 100))
    .option('--seconds <n>', 'length of one measurement (4; quick: 0.5)', numberFrom(0.2, 600))
    .option(
      '--peer <name=url>',
      'a running server, by a template of its URLs; repeatable',
      (text: string, before: readonly Peer[] = []) => [...before, parsePeer(text)],
    )
    .option(
      '--peer-pid <name=pid>',
      'the process of a peer, to measure its CPU time and memory; repeatable',
      pid,
    )
    .option(
      '--photographs <folder>',
      'photographs for the scenario published, which runs alone with it: peers publish the figures of 100 from DIV2K',
    )
    .option('--ssimulacra2 <command>', meterHelp)
    .addHelpText(
      'after',
      `
The scenarios:
${listed.join('\n')}

In the template of a peer:
${words.join('\n')}
such as --peer 'imgproxy=http://127.0.0.1:8080/unsafe/rs:fit:{width}:0/q:{quality}/plain/{url}@{format}'.
It must be able to fetch from 127.0.0.1. Its encoder settings, except the quality, are its own.

nginx and taskset are used if they are installed.`,
    )
    .parse()
    .opts<BenchOptions>();
}

/** A running server, started by others. */
export interface Peer {
  readonly name: string;
  /** Of its URLs. */
  readonly template: string;
}

/** Parses `name=http://…`, for the command line. */
export function parsePeer(text: string): Peer {
  const equals = text.indexOf('=');
  const [name, template] = [text.slice(0, equals), text.slice(equals + 1)];
  if (equals < 1 || !URL.canParse(template) || !/^http:/.test(template)) {
    throw new InvalidArgumentError('It must be name=http://… with words in braces.');
  }
  for (const [found, word = ''] of template.matchAll(/\{(\w*)\}/g)) {
    if (!Object.hasOwn(urlPlaceholders, word)) throw new InvalidArgumentError(`unknown ${found}`);
  }
  for (const word of ['url', 'width', 'format']) {
    if (!template.includes(`{${word}}`)) throw new InvalidArgumentError(`missing {${word}}`);
  }
  return { name, template };
}

/** @param pid of its first process, or null */
export const peerServer = ({ name, template }: Peer, pid: number | null): ImageServer => ({
  name,
  pid,
  healthyMs: null,
  url: new URL(template).origin,
  close: async () => {},
  imageUrl: ({ source, width, height = 0, format, pixels, quality }) =>
    template
      .replaceAll('{url}', encodedSource(source))
      .replaceAll('{width}', String(width))
      .replaceAll('{height}', String(height))
      .replaceAll('{format}', format)
      .replaceAll('{quality}', String(encoderOptions(format, quality, pixels).quality)),
});
