import { statSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { numberFrom } from './arguments.ts';
import { goalInWords } from './report/verdict.ts';
import type { Measure } from './scenarios/scenario.ts';
import { isScenario, type ScenarioName, scenarioNames, scenarios } from './scenarios/table.ts';
import { type Peer, parsePeer, urlPlaceholders } from './servers/peer.ts';

/** The command line of `npm run bench`. */
export interface BenchOptions {
  readonly quick?: boolean;
  readonly only?: readonly ScenarioName[];
  readonly folder: string;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly peer?: readonly Peer[];
  readonly defaultPeer?: readonly Peer[];
  readonly peerPid?: ReadonlyMap<string, number>;
  readonly ipx: boolean;
  readonly photographs?: string;
  readonly ssimulacra2?: string;
}

function names(text: string): ScenarioName[] {
  return text.split(',').map((name) => {
    if (isScenario(name)) return name;
    throw new InvalidArgumentError(`One or several of ${scenarioNames.join(',')}.`);
  });
}

function pid(text: string, before: ReadonlyMap<string, number> = new Map()): Map<string, number> {
  const [, name = '', id = ''] = /^(.+)=(\d+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be name=number.');
  return new Map([...before, [name, Number(id)]]);
}

function folder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new InvalidArgumentError('It is not a folder.');
}

const listed = scenarioNames.map((name) => {
  const { title, measures } = scenarios[name];
  const goals = Object.values<Measure>(measures).map(
    (measure) =>
      `    ${measure.what}${measure.goal === undefined ? '' : `: ${goalInWords(measure)}`}`,
  );
  return [`  ${name}: ${title}`, ...goals].join('\n');
});
const words = Object.entries(urlPlaceholders).map(([word, meaning]) => `  {${word}}  ${meaning}`);

/** Ends the process with a message when the arguments are wrong. */
export function readBenchOptions(): BenchOptions {
  return new Command('bench')
    .description(
      'Compares the service with what the machine can do and with other servers, in turns, and writes a report with tables and charts. Takes about an hour. Goals that are missed are reported and do not change the exit code, which is 1 when a scenario could not be measured.',
    )
    .option('--quick', 'every ratio in under three minutes; the figures are preliminary')
    .option('--only <scenarios>', `only these, comma-separated: ${scenarioNames.join(',')}`, names)
    .option('--folder <path>', 'where report.md and its pictures are written', 'data/bench')
    .option('--rounds <n>', 'rounds of each comparison (5; quick: 2)', numberFrom(1, 100))
    .option('--seconds <n>', 'length of one measurement (4; quick: 0.5)', numberFrom(0.2, 600))
    .option(
      '--peer <name=url>',
      'a running server, by a template of its URLs; repeatable',
      (text: string, before: readonly Peer[] = []) => [...before, parsePeer(text)],
    )
    .option(
      '--default-peer <name=url>',
      'the same with its own defaults, which quality compares instead of --peer; repeatable',
      (text: string, before: readonly Peer[] = []) => [...before, parsePeer(text)],
    )
    .option(
      '--peer-pid <name=pid>',
      'the process of a peer, to measure its memory; repeatable',
      pid,
    )
    .option('--no-ipx', 'do not install IPX and compare with it')
    .option(
      '--photographs <folder>',
      'photographs for quality, JPEG or PNG: at least 20 of several makers, as docs/benchmarks.md says',
      folder,
    )
    .option(
      '--ssimulacra2 <command>',
      'a command that takes two PNG files and prints their SSIMULACRA2, such as "ssimulacra2_rs image", for quality; without it the score is SSIM, which ignores chroma',
    )
    .addHelpText(
      'after',
      `
The scenarios, with their goals:
${listed.join('\n')}

In the template of a peer:
${words.join('\n')}
such as --peer 'imgproxy=http://127.0.0.1:8080/unsafe/rs:fit:{width}:0/q:{quality}/plain/{url}@{format}'.
It must be able to fetch from 127.0.0.1. Its encoder settings, except the quality, are its own.
For its default quality, the path segment or query parameter with {quality} is left out, such as /q:{quality},
or, in a segment with other words, the part between commas or colons, such as ,q_{quality}. A peer without
{quality} always has its own quality, and the scenario quality compares only its defaults.

wrk, nginx and taskset are used if they are installed.`,
    )
    .parse()
    .opts<BenchOptions>();
}
