import type { Chart } from '../charts.ts';
import type { DefaultServer, ImageServer } from '../servers/server.ts';
import type { Sources } from './sources.ts';

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One figure of a scenario, which may have a value for each of several cases. */
export interface Measure {
  readonly what: string;
  /** `×`: a ratio of two measurements in one round. */
  readonly unit: '×' | 'ms' | 's' | 'MiB' | 'bytes' | 'servers';
  /** Undefined for figures that only inform. */
  readonly goal?: Goal;
}

/** A measure's values, one for each round. */
export interface Finding {
  /** Its name in the scenario. */
  readonly measure: string;
  /** The case, such as `20 KB, 32 connections`. */
  readonly of: string;
  readonly values: readonly number[];
  /** The absolute figures. */
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

/** The means and the results of a scenario. */
export interface Bench<M extends string = string> {
  /** Fewer rounds, cases and requests: every ratio, but preliminary. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Of one measurement. */
  readonly seconds: number;
  readonly cores: number;
  readonly sources: Sources;
  /** Processors for servers of as many processes and for the load; null where they share all. */
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
  /** A property, because the parameters of methods are bivariant. */
  readonly finding: (measure: M, of: string, values: readonly number[], detail: string) => void;
  table(table: Table): void;
  chart(chart: Chart): void;
  note(text: string): void;
}

export interface Scenario {
  readonly title: string;
  /** The method. */
  readonly about: string;
  /** By name. */
  readonly measures: Readonly<Record<string, Measure>>;
  run(bench: Bench): Promise<void>;
}

interface Declared<M extends string> extends Scenario {
  readonly measures: Readonly<Record<M, Measure>>;
  run(bench: Bench<M>): Promise<void>;
}

/** A scenario whose findings can only be of its measures. */
export const scenario = <const M extends string>(declared: Declared<M>): Scenario => declared;

let distinct = 0;
/** The first of a million numbers that no request has used before. */
export function unused(): number {
  distinct += 1_000_000;
  return distinct;
}
