import { Command, InvalidArgumentError } from 'commander';
import { numberFrom } from '../demo/arguments.ts';
import { meterHelp } from './meter.ts';
import { scenarios } from './scenarios/table.ts';
import { type Peer, parsePeer, urlPlaceholders } from './servers/peer.ts';

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
      'the process of a peer, to measure its memory; repeatable',
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
