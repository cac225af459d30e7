import { inOneLine, judge, type Verdict } from '../report/verdict.ts';
import type { ScenarioResult } from '../report/write.ts';
import { installed } from '../servers/launch.ts';
import { defaultPeer, type Peer, peerServer } from '../servers/peer.ts';
import { ratios, spread } from './rounds.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

/** The properties of {@link Bench} that a scenario's run provides. */
type ProvidedByRun =
  | 'pinning'
  | 'peers'
  | 'defaultPeers'
  | 'open'
  | 'finding'
  | 'ratio'
  | 'table'
  | 'chart'
  | 'note';

export interface RunOptions extends Omit<Bench, ProvidedByRun> {
  readonly peers: readonly Peer[];
  /** Of the scenario `quality`. */
  readonly defaultPeers: readonly Peer[];
}

/** Runs scenarios, one after the other, and closes what each has opened. */
export class Runner {
  readonly #options: RunOptions;
  #open: { close(): Promise<void> }[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Closes what the current scenario has opened, the last first. */
  async close(): Promise<void> {
    for (const one of this.#open.splice(0).reverse()) await one.close();
  }

  /** A scenario that fails keeps its findings. */
  async run(name: string, scenario: Scenario): Promise<ScenarioResult> {
    const { verdicts, findings, reporter } = collect(name, scenario, this.#options.progress);
    let failure: string | null = null;
    try {
      await scenario.run(this.#bench(reporter));
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      await this.close();
    }
    return { name, scenario, verdicts, findings, failure };
  }

  #bench(reporter: Reporter): Bench {
    const { peers, defaultPeers, ...options } = this.#options;
    return {
      ...options,
      pinning: (processes) => pinning(processes, options.cores),
      peers: (pixels) => peers.map((peer) => peerServer(peer, pixels)),
      defaultPeers: () => defaultPeers.map(defaultPeer),
      open: async (starting) => {
        const opened = await starting;
        this.#open.push(opened);
        return opened;
      },
      ...reporter,
      ratio: (key, caseName, own, { name, values }, unit) =>
        reporter.finding(
          key,
          caseName,
          ratios(own, values),
          `${spread(own)}${unit}, ${name} ${spread(values)}${unit}`,
        ),
    };
  }
}

/** Where a scenario's results go. */
export type Reporter = Pick<Bench, 'finding' | 'table' | 'chart' | 'note'>;

/** Collects the results of a scenario, and shows them as they arrive. */
export function collect(
  name: string,
  { measures }: Pick<Scenario, 'measures'>,
  progress: (text: string) => void,
) {
  const findings: Findings = { tables: [], charts: [], notes: [] };
  const verdicts: Verdict[] = [];
  const reporter: Reporter = {
    finding(key, caseName, values, detail) {
      const measure = measures[key];
      if (measure === undefined) throw new Error(`${name} has no measure ${key}`);
      const verdict = judge(name, measure, { measure: key, caseName, values, detail });
      verdicts.push(verdict);
      progress(inOneLine(verdict));
    },
    table: (table) => void findings.tables.push(table),
    chart: (chart) => void findings.charts.push(chart),
    note(text) {
      findings.notes.push(text);
      progress(text);
    },
  };
  return { findings, verdicts, reporter };
}

const canPin = installed('taskset');

/** The first processors for the servers and the others for the load, if there are enough. */
export function pinning(processes: number, cores: number): ReturnType<Bench['pinning']> {
  if (!canPin || cores <= processes) return { server: null, load: null };
  const range = (from: number, to: number) => (from === to ? String(from) : `${from}-${to}`);
  return { server: range(0, processes - 1), load: range(processes, cores - 1) };
}
