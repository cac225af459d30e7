import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { type Described, findingsTable, Results, writeReport } from './report.ts';
import { OpenResources } from './resources.ts';

/** A scenario; `B` contains its inputs and results. */
export interface Scenario<B> extends Described {
  run(bench: B): Promise<void>;
}

export interface RunOptions<B> {
  readonly scenarios: ReadonlyArray<readonly [name: string, scenario: Scenario<B>]>;
  /** Creates a scenario's inputs. `opened` is closed afterwards. */
  readonly benchFor: (results: Results, opened: OpenResources) => B;
  /** Closed at the end. */
  readonly opened: OpenResources;
  readonly folder: string;
  /** Lines at the top of the report, after the machine's lines. */
  readonly environment: readonly string[];
}

const startedAt = performance.now();
const [loadBefore = 0] = loadavg();
const print = (text: string): void => void process.stdout.write(`${text}\n`);

export const progress = (text: string): void =>
  print(`[${((performance.now() - startedAt) / 1_000).toFixed(0)} s] ${text}`);

/** Load averages above this share of the cores mean that other programs affect the result. */
const quietBelow = 0.35;
/** Other programs that use a larger share of the processors during a scenario affect its result. */
const quietShare = 0.05;

function machine(): string[] {
  const { length: cores, [0]: first } = cpus();
  return [
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version} on ${process.platform} ${release()}, ${cores} cores (${first?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB. The load generator, the origin and the servers share the machine.`,
    loadBefore <= quietBelow * cores
      ? `Load average before the start: ${loadBefore.toFixed(1)}.`
      : `**The machine was not quiet: its load average was ${loadBefore.toFixed(1)} before the start. These figures are unreliable.**`,
    `Arguments: \`${process.argv.slice(2).join(' ')}\``,
  ];
}

/**
 * Runs scenarios, one after the other, and writes their report. A scenario that fails keeps its findings.
 * @returns the numbers of missed goals and of scenarios that failed
 */
export async function runScenarios<B>({
  scenarios,
  benchFor,
  opened,
  folder,
  environment,
}: RunOptions<B>): Promise<{ readonly missed: number; readonly failed: number }> {
  const lines = [...machine(), ...environment];
  for (const line of lines) print(line.replaceAll('**', ''));
  const ofScenario = new OpenResources();
  const stop = async () => {
    await ofScenario.close();
    await opened.close();
    process.exit(130);
  };
  process.once('SIGINT', () => void stop()).once('SIGTERM', () => void stop());
  const all: Results[] = [];
  for (const [name, scenario] of scenarios) {
    progress(`${scenario.title}…`);
    const results = new Results(name, scenario, progress);
    all.push(results);
    const otherLoad = measureOtherLoad();
    try {
      await scenario.run(benchFor(results, ofScenario));
    } catch (error) {
      results.failure = error instanceof Error ? error.message : String(error);
      progress(`${name} ended early: ${results.failure}`);
    } finally {
      await ofScenario.close();
    }
    const others = otherLoad();
    if (others > quietShare * cpus().length) {
      results.note(
        `**Other programs used ${others.toFixed(2)} processors meanwhile. These figures are unreliable.**`,
      );
    }
  }
  await opened.close();
  await writeReport(resolve(folder), lines, all);
  const findings = all.flatMap((result) => result.findings);
  const missed = findings.filter(({ met }) => met === false).length;
  const goals = findings.filter(({ met }) => met !== null).length;
  print(`\n${findingsTable(findings)}\n`);
  progress(`${goals - missed} of ${goals} goals are met; ${join(resolve(folder), 'report.md')}`);
  return { missed, failed: all.filter(({ failure }) => failure !== null).length };
}

/** The unit of processor time on Linux, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of this machine, in ms. */
function busyMs(): number {
  const times = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return times.reduce((all, time) => all + time, 0);
}

/** The processor time of this process and of its children that have ended, in ms; NaN without /proc. */
function ownMs(): number {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Sums user and system time, including the children's: the fields 14 to 17.
    return tickMs * fields.slice(11, 15).reduce((all, field) => all + Number(field), 0);
  } catch {
    return Number.NaN;
  }
}

/**
 * Starts to measure other programs' load, which affects even a request's processor time, because
 * processors share caches and clocks.
 * @returns a function to call after all children have ended: returns the average number of
 *   processors that other programs used, or NaN
 */
export function measureOtherLoad(): () => number {
  const since = performance.now();
  const before = busyMs() - ownMs();
  return () => Math.max(0, busyMs() - ownMs() - before) / (performance.now() - since);
}
