import type { Ran } from '../report/markdown.ts';
import { inOneLine, judge, type Verdict } from '../report/verdict.ts';
import { installed } from '../servers/launch.ts';
import { defaultPeer, type Peer, peerServer } from '../servers/peer.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';
import type { Sources } from './sources.ts';

export interface RunOptions {
  readonly quick: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly cores: number;
  readonly sources: Sources;
  readonly hasIpx: boolean;
  readonly peers: readonly Peer[];
  /** Those that scenario `quality` compares with. */
  readonly defaultPeers: readonly Peer[];
  readonly photographs: string | null;
  readonly ssimulacra2: string | null;
  readonly progress: (text: string) => void;
}

interface Closing {
  close(): Promise<void>;
}

/** Runs scenarios, one after the other, and closes what each has opened. */
export class Runner {
  readonly #options: RunOptions;
  #open: Closing[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Closes what the scenario that runs has opened, the last first. */
  async close(): Promise<void> {
    const open = this.#open.reverse();
    this.#open = [];
    for (const one of open) await one.close();
  }

  /** A scenario that fails has the findings until then. */
  async run(name: string, scenario: Scenario): Promise<Ran> {
    const findings: Findings = { findings: [], tables: [], charts: [], notes: [] };
    const verdicts: Verdict[] = [];
    let failure: string | null = null;
    try {
      await scenario.run(this.#bench(name, scenario, findings, verdicts));
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      await this.close();
    }
    return { name, scenario, verdicts, findings, failure };
  }

  #bench(name: string, scenario: Scenario, found: Findings, verdicts: Verdict[]): Bench {
    const { progress, peers, defaultPeers, ...options } = this.#options;
    return {
      ...options,
      progress,
      pinning: (processes) => pinning(processes, options.cores),
      peers: (pixels) => peers.map((peer) => peerServer(peer, pixels)),
      defaultPeers: () => defaultPeers.map(defaultPeer),
      open: async (starting) => {
        const opened = await starting;
        this.#open.push(opened);
        return opened;
      },
      finding(key, of, values, detail) {
        const measure = scenario.measures[key];
        if (measure === undefined) throw new Error(`${name} has no measure ${key}`);
        const finding = { measure: key, of, values, detail };
        found.findings.push(finding);
        const verdict = judge(name, measure, finding);
        verdicts.push(verdict);
        progress(inOneLine(verdict));
      },
      table: (table) => void found.tables.push(table),
      chart: (chart) => void found.charts.push(chart),
      note(text) {
        found.notes.push(text);
        progress(text);
      },
    };
  }
}

const canPin = installed('taskset');

/** The first processors for the servers and the others for the load, where there are enough of them. */
export function pinning(processes: number, cores: number): ReturnType<Bench['pinning']> {
  if (!canPin || cores <= processes) return { server: null, load: null };
  const range = (from: number, to: number) => (from === to ? String(from) : `${from}-${to}`);
  return { server: range(0, processes - 1), load: range(processes, cores - 1) };
}
