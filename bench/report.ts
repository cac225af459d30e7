import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The results of scenarios, with their goals. */

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** A scenario's figure, which can have a value per case. */
export interface Measure {
  readonly what: string;
  /** Such as `ms`; `×` is a ratio of two measurements in one round. */
  readonly unit: string;
  /** Undefined for figures that only inform. */
  readonly goal?: Goal;
}

export type Measures = Readonly<Record<string, Measure>>;

/** A scenario that can be described but not run. */
export interface Described {
  readonly title: string;
  /** How it measures. */
  readonly method: string;
  readonly measures: Measures;
}

/** A measure's values in a case, a value per round. */
export interface Finding {
  readonly measure: Measure;
  /** Includes the names of the scenario and the measure. */
  readonly name: string;
  /** Such as `20 KB, 32 connections`. */
  readonly caseName: string;
  readonly values: readonly number[];
  /** The absolute figures behind a ratio. */
  readonly detail: string;
  /** Whether the goal is met; null if the measure has no goal. */
  readonly met: boolean | null;
}

export interface Table {
  readonly title: string;
  /** The first row contains the headings. */
  readonly rows: ReadonlyArray<readonly string[]>;
}

/** Collects a scenario's results, and shows them as they arrive. `M`: the measures' names. */
export class Results<M extends string = string> {
  readonly findings: Finding[] = [];
  readonly tables: Table[] = [];
  readonly notes: string[] = [];
  /** The error that ended it early, or null. */
  failure: string | null = null;
  readonly scenario: Described;
  readonly progress: (text: string) => void;
  readonly #name: string;

  constructor(name: string, scenario: Described, progress: (text: string) => void) {
    this.#name = name;
    this.scenario = scenario;
    this.progress = progress;
  }

  /** Functions in properties, because TypeScript checks the parameters of methods less strictly. */
  readonly finding = (
    key: M,
    caseName: string,
    values: readonly number[],
    detail: string = '',
  ): void => {
    const measure = this.scenario.measures[key];
    if (measure === undefined) throw new Error(`${this.#name} has no measure ${key}`);
    const met = isMet(median(values), measure.goal);
    const name = `${this.#name}: ${key}`;
    const found = { measure, name, caseName, values, detail, met };
    this.findings.push(found);
    const parts = [measured(found), verdict(found), detail].filter((part) => part !== '');
    this.progress(`${key}, ${caseName}: ${parts.join('; ')}`);
  };

  /** Reports the ratio of two servers' values per round. `unit`: the values' unit, such as `/s`. */
  readonly ratio = (
    key: M,
    caseName: string,
    own: readonly number[],
    other: { readonly name: string; readonly values: readonly number[] },
    unit: string,
  ): void => {
    const detail = `${spread(own)}${unit}, ${other.name} ${spread(other.values)}${unit}`;
    this.finding(key, caseName, ratios(own, other.values), detail);
  };

  table(table: Table): void {
    this.tables.push(table);
    this.progress(`${table.title}\n${textTable(table.rows)}`);
  }

  note(text: string): void {
    this.notes.push(text);
    this.progress(text);
  }
}

/** False for NaN. */
function isMet(value: number, goal: Goal | undefined): boolean | null {
  if (goal === undefined) return null;
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

const measured = ({ values, measure }: Finding): string => `${spread(values)} ${measure.unit}`;

function goalInWords({ goal, unit }: Measure): string {
  if (goal === undefined) return '';
  return 'atLeast' in goal ? `at least ${goal.atLeast} ${unit}` : `at most ${goal.atMost} ${unit}`;
}

/** Returns a verdict such as `0.83: missed`; empty if the measure has no goal. */
function verdict({ values, met }: Finding): string {
  if (met === null) return '';
  const value = median(values);
  const words = Number.isNaN(value) ? 'not measured' : figure(value);
  return `${words}: ${met ? 'met' : 'missed'}`;
}

const heads = ['', 'case', 'median (least..most)', 'goal', 'verdict', 'figures'] as const;

const cells = (found: Finding): string[] => [
  found.name,
  found.caseName,
  measured(found),
  goalInWords(found.measure),
  verdict(found),
  found.detail,
];

/** All findings, for the terminal. */
export const findingsTable = (findings: readonly Finding[]): string =>
  textTable(
    [heads, ...findings.map(cells)].map((row) => row.slice(0, -1)),
    5,
  );

const row = (texts: readonly string[]): string =>
  `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;

const markdownTable = ([first = [], ...rows]: Table['rows']): string =>
  [row(first), row(first.map(() => '---')), ...rows.map(row)].join('\n');

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

/**
 * Writes report.md.
 * @param environment lines above the results: the machine, the versions, the command
 */
export async function writeReport(
  folder: string,
  environment: readonly string[],
  all: readonly Results[],
): Promise<void> {
  const withGoal = all.flatMap(({ findings }) => findings).filter(({ met }) => met !== null);
  const missed = withGoal.filter(({ met }) => met === false);
  const parts = [
    '# Performance, measured',
    ...environment,
    `${withGoal.length - missed.length} of ${withGoal.length} goals are met.`,
  ];
  if (missed.length > 0) {
    const lines = missed.map(
      (finding) => `${finding.name} (${finding.caseName}): ${verdict(finding)}`,
    );
    parts.push('Missed goals:', list(lines));
  }
  await mkdir(folder, { recursive: true });
  const text = [...parts, ...all.flatMap(section)].join('\n\n');
  await writeFile(join(folder, 'report.md'), `${text}\n`);
}

function section({ scenario, findings, tables, notes, failure }: Results): string[] {
  const measures = Object.entries(scenario.measures).map(([name, { what }]) => `${name}: ${what}`);
  const parts = [`## ${scenario.title}`, scenario.method, list(measures)];
  if (failure !== null) parts.push(`**It ended early: ${failure}**`);
  parts.push(...notes);
  if (findings.length > 0) parts.push(markdownTable([heads, ...findings.map(cells)]));
  for (const { title, rows } of tables) parts.push(`### ${title}`, markdownTable(rows));
  return parts;
}

/**
 * Runs every measurement once per round, each round starting with a different measurement.
 * @returns each measurement's values, a value per round
 */
export async function alternate<Name extends string, T>(
  rounds: number,
  measurements: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(measurements) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    const from = round % names.length;
    for (const name of [...names.slice(from), ...names.slice(0, from)]) {
      values[name].push(await measurements[name]());
    }
  }
  return values;
}

/** Measures servers in turns. @returns each server's figures, a value per round, by its name */
export const alternateServers = <S extends { readonly name: string }, T>(
  rounds: number,
  servers: readonly S[],
  measure: (server: S) => Promise<T>,
): Promise<Record<string, T[]>> =>
  alternate(
    rounds,
    Object.fromEntries(servers.map((server) => [server.name, () => measure(server)])),
  );

/** Returns a figure of a server, a value per round. */
export const valuesOf = <K extends string>(
  found: Readonly<Record<string, readonly Readonly<Record<K, number>>[]>>,
  name: string,
  key: K,
): number[] => (found[name] ?? []).map((round) => round[key]);

/** Returns the ratio per round. */
export const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, round) => value / (others[round] ?? Number.NaN));

/** The values without NaN, which means “not measured”. */
export const known = (values: readonly number[]): number[] =>
  values.filter((value) => !Number.isNaN(value));

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

/** Three significant digits; thousands from 10,000; `-` for NaN. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '-';
  if (!Number.isFinite(value)) return '∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 10_000) return `${(value / 1_000).toFixed(1)}k`;
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** The median with the minimum and the maximum, such as `0.91 (0.88..0.95)`. */
export function spread(values: readonly number[]): string {
  const all = known(values);
  if (all.length < 2) return figure(all[0] ?? Number.NaN);
  return `${figure(median(all))} (${figure(Math.min(...all))}..${figure(Math.max(...all))})`;
}

/** The percentile of the samples (nearest rank); `share` is 0 to 1. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(mean(values.map(Math.log)));

/** Formats a text table; aligns the first columns left and the others right. */
export function textTable(rows: ReadonlyArray<ReadonlyArray<string>>, leftColumns = 1): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) => {
    const cells = row.map((cell, column) =>
      column < leftColumns ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return cells.join('  ').trimEnd();
  };
  return rows.map(line).join('\n');
}
