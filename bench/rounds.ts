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
