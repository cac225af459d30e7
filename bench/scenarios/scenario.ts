import type { Chart } from '../charts/lines.ts';
import type { PointChart } from '../charts/points.ts';
import type { DefaultServer, ImageServer } from '../servers/server.ts';
import type { Sources } from './sources.ts';

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One figure of a scenario, which may have a value for each of several cases. */
export interface Measure {
  /** In a few words, within its scenario. */
  readonly name: string;
  /** What is measured, and against what. */
  readonly what: string;
  /** `×`: a ratio of two things measured side by side. */
  readonly unit: '×' | 'ms' | 's' | 'MiB' | 'bytes' | 'servers';
  /** Null for figures that only inform. */
  readonly goal: Goal | null;
}

/** A measure's values, one for each round. */
export interface Finding {
  readonly measure: string;
  /** The case, such as `20 KB, 32 connections`. */
  readonly of: string;
  readonly values: readonly number[];
  /** The figures behind it. */
  readonly detail: string;
}

export interface Table {
  readonly title: string;
  /** The first row are the heads. */
  readonly rows: ReadonlyArray<readonly string[]>;
}

/** What a run of a scenario has found. */
export interface Findings {
  readonly findings: Finding[];
  readonly tables: Table[];
  readonly charts: (Chart | PointChart)[];
  readonly notes: string[];
}

/** How a scenario is run, and where it puts what it finds. */
export interface Bench<M extends string = string> {
  /** Fewer rounds, cases and requests: every ratio, but none to rely on. */
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
  /** A folder of photographs; null when none was named. */
  readonly photographs: string | null;
  /** A command that measures SSIMULACRA2; null when none was named. */
  readonly ssimulacra2: string | null;
  /** Closes it after the scenario. */
  open<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T>;
  progress(text: string): void;
  /** A property, not a method, so that the compiler knows a measure that there is not. */
  readonly finding: (measure: M, of: string, values: readonly number[], detail: string) => void;
  table(table: Table): void;
  chart(chart: Chart | PointChart): void;
  note(text: string): void;
}

export interface Scenario {
  readonly title: string;
  /** How it is measured. */
  readonly about: string;
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
