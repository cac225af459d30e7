import type { Chart } from '../charts.ts';
import type { DefaultServer, ImageServer } from '../servers/server.ts';
import type { SourcePictures } from './sources.ts';

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** What `npm run bench:fleet` counts. */
type CountedUnit = 'requests' | 'responses' | 'renders' | 'fetches';

/** One figure of a scenario, which may have a value for each of several cases. */
export interface Measure {
  readonly what: string;
  /** `×`: a ratio of two measurements in one round. */
  readonly unit: '×' | '%' | 'ms' | 's' | 'MiB' | 'bytes' | 'servers' | CountedUnit;
  /** Undefined for figures that only inform. */
  readonly goal?: Goal;
}

/** A measure's values, one for each round. */
export interface Finding {
  /** Its name in the scenario. */
  readonly measure: string;
  /** Such as `20 KB, 32 connections`. */
  readonly caseName: string;
  readonly values: readonly number[];
  /** The absolute figures behind a ratio. */
  readonly detail: string;
}

export interface Table {
  readonly title: string;
  /** The first row has the heads. */
  readonly rows: ReadonlyArray<readonly string[]>;
}

/** The results of one scenario. */
export interface Findings {
  readonly tables: Table[];
  readonly charts: Chart[];
  readonly notes: string[];
}

/** What a scenario needs, and where its results go. `M`: the names of its measures. */
export interface Bench<M extends string = string> {
  /** Fewer rounds, cases and requests: the figures are preliminary. */
  readonly quick: boolean;
  readonly rounds: number;
  /** The length of one measurement. */
  readonly seconds: number;
  readonly cores: number;
  readonly sources: SourcePictures;
  /** The processors for servers of this number of processes, and for the load; null: all. */
  pinning(processes: number): { readonly server: string | null; readonly load: string | null };
  /** Whether IPX is installed. */
  readonly hasIpx: boolean;
  /**
   * The peers of the command line.
   * @param pixels of their outputs, on which the service's encoder settings depend
   */
  peers(pixels: number): ImageServer[];
  /** The same with their own settings. */
  defaultPeers(): DefaultServer[];
  /** A folder of photographs, or null. */
  readonly photographs: string | null;
  /** A command that measures SSIMULACRA2, or null. */
  readonly ssimulacra2: string | null;
  /** Closes the opened object after the scenario. */
  open<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T>;
  progress(text: string): void;
  /** Properties, because TypeScript checks the parameters of methods less strictly. */
  readonly finding: (
    measure: M,
    caseName: string,
    values: readonly number[],
    detail: string,
  ) => void;
  /** A finding: the ratio of two servers' values in each round. */
  readonly ratio: (
    measure: M,
    caseName: string,
    own: readonly number[],
    other: { readonly name: string; readonly values: readonly number[] },
    unit: '/s' | ' ms' | ' µs' | ' s' | ' MiB',
  ) => void;
  table(table: Table): void;
  chart(chart: Chart): void;
  note(text: string): void;
}

export type Measures = Readonly<Record<string, Measure>>;

export interface Scenario {
  readonly title: string;
  /** How it measures. */
  readonly method: string;
  readonly measures: Measures;
  run(bench: Bench): Promise<void>;
}

let lastNumber = 0;
/** The first of a million numbers that no request has used before. */
export function unusedNumber(): number {
  lastNumber += 1_000_000;
  return lastNumber;
}
