import type { NameCount, StoredActivity, StoredFailure } from '../../../store/activity.ts';
import { tiers } from '../request-counts.ts';

const countFields = [...tiers, 'unsigned', 'bytes', 'originalBytes', 'comparedBytes'] as const;
type ActivityCounts = Record<(typeof countFields)[number], number>;

const noActivity = (): ActivityCounts =>
  Object.fromEntries(countFields.map((field) => [field, 0])) as ActivityCounts;

/** Maximum names per list, in the store and in responses. */
const maxTopNames = 20;

/** A project's request figures in one interval. */
export class ActivitySlice {
  readonly counts: ActivityCounts = noActivity();
  readonly durations: DurationCounts = new Map();
  readonly sources: TopCounts;
  readonly variants: TopCounts;
  readonly failures: RecentFailures;

  constructor(budget: NameBudget) {
    this.sources = new TopCounts(budget);
    this.variants = new TopCounts(budget);
    this.failures = new RecentFailures(budget);
  }

  get size(): number {
    return this.sources.size + this.variants.size + this.failures.size;
  }

  stored(): StoredActivity {
    return {
      counts: { ...this.counts },
      durations: [...this.durations].map(([bucket, count]) => ({ bucket, count })),
      sources: this.sources.list(),
      variants: this.variants.list(),
      failures: this.failures.list(),
    };
  }
}

/** Names that all of a process's counters can still add. */
export interface NameBudget {
  left: number;
}

interface Counted {
  count: number;
  /** Maximum part of the count that might belong to other names. */
  error: number;
}

const maxNames = 40;

/**
 * Counts the most frequent of any number of names in fixed memory, by the Space-Saving algorithm
 * (Metwally, Agrawal and El Abbadi, 2005): a new name replaces the name with the lowest count, and
 * inherits this count as its possible error.
 */
class TopCounts {
  readonly #counted = new Map<string, Counted>();
  readonly #budget: NameBudget;

  constructor(budget: NameBudget) {
    this.#budget = budget;
  }

  add(name: string, count: number): void {
    const known = this.#counted.get(name);
    if (known !== undefined) {
      known.count += count;
    } else if (this.#counted.size < maxNames && this.#budget.left > 0) {
      this.#budget.left -= 1;
      this.#counted.set(name, { count, error: 0 });
    } else {
      this.#replaceLowest(name, count);
    }
  }

  /** Returns the first names by their certain counts, highest first. */
  list(): readonly NameCount[] {
    return [...this.#counted]
      .map(([name, { count, error }]) => ({ name, count: count - error }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .slice(0, maxTopNames);
  }

  /** Number of names that use the budget. */
  get size(): number {
    return this.#counted.size;
  }

  #replaceLowest(name: string, count: number): void {
    let lowest: NameCount | null = null;
    for (const [known, { count }] of this.#counted) {
      if (lowest === null || count < lowest.count) lowest = { name: known, count };
    }
    if (lowest === null) return;
    this.#counted.delete(lowest.name);
    this.#counted.set(name, { count: lowest.count + count, error: lowest.count });
  }
}

export type FailedRequest = Omit<StoredFailure, 'at' | 'count'>;

export const maxFailures = 100;

/**
 * Returns the same key for equal failures. A wrong parameter is a mistake of the template that wrote
 * many URLs; other failures belong to a URL.
 */
const failureKey = ({ code, url, message }: FailedRequest): string =>
  `${code} ${code === 'parameter_invalid' ? message : url}`;

class RecentFailures {
  /** From oldest to newest. */
  readonly #failures = new Map<string, StoredFailure>();
  readonly #budget: NameBudget;

  constructor(budget: NameBudget) {
    this.#budget = budget;
  }

  add(failed: FailedRequest, at: number): void {
    const key = failureKey(failed);
    const known = this.#failures.get(key);
    if (known === undefined && !this.#makeRoom()) return;
    this.#failures.delete(key);
    this.#failures.set(key, { ...failed, at, count: 1 + (known?.count ?? 0) });
  }

  /** Returns the failures, latest last. */
  list(): readonly StoredFailure[] {
    return [...this.#failures.values()];
  }

  /** Number of failures that use the budget. */
  get size(): number {
    return this.#failures.size;
  }

  /** Returns whether there is room for another failure. */
  #makeRoom(): boolean {
    if (this.#failures.size < maxFailures && this.#budget.left > 0) {
      this.#budget.left -= 1;
      return true;
    }
    const [oldest] = this.#failures.keys();
    return oldest !== undefined && this.#failures.delete(oldest);
  }
}

/** Each bucket ends 15% above the previous bucket, so that a percentile deviates by at most 8%. */
const growth = 1.15;
/** The last bucket ends after 25 minutes. */
const maxBucket = 102;

/** Number of durations by bucket. */
type DurationCounts = Map<number, number>;

/** @param ms at least 0 */
export function addDuration(counts: DurationCounts, ms: number): void {
  const bucket = ms <= 1 ? 0 : Math.min(maxBucket, Math.ceil(Math.log(ms) / Math.log(growth)));
  addToBucket(counts, bucket, 1);
}

function addToBucket(counts: DurationCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

/**
 * Returns the duration that a fraction of all durations does not exceed, in ms: its bucket's
 * middle, or null if there are no durations.
 */
export function percentile(counts: DurationCounts, fraction: number): number | null {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= fraction * total) return Math.round(growth ** (bucket - 0.5));
  }
  return null;
}

/** The sums over processes and intervals. */
export interface ActivitySum {
  readonly counts: ActivityCounts;
  readonly durations: DurationCounts;
  readonly sources: readonly NameCount[];
  readonly variants: readonly NameCount[];
}

export function sumOfActivity(parts: readonly StoredActivity[]): ActivitySum {
  const counts = noActivity();
  const durations: DurationCounts = new Map();
  for (const part of parts) {
    for (const field of countFields) counts[field] += part.counts[field] ?? 0;
    for (const { bucket, count } of part.durations) addToBucket(durations, bucket, count);
  }
  const sources = findTop(parts.map(({ sources }) => sources));
  const variants = findTop(parts.map(({ variants }) => variants));
  return { counts, durations, sources, variants };
}

function findTop(lists: readonly (readonly NameCount[])[]): readonly NameCount[] {
  const sums = new Map<string, number>();
  for (const { name, count } of lists.flat()) sums.set(name, (sums.get(name) ?? 0) + count);
  const counts = [...sums].map(([name, count]) => ({ name, count }));
  return counts.sort((a, b) => b.count - a.count).slice(0, maxTopNames);
}

/** The last failures of all parts, the latest one first. */
export function lastFailures(parts: readonly StoredActivity[]): readonly StoredFailure[] {
  const sums = new Map<string, StoredFailure>();
  for (const failure of parts.flatMap(({ failures }) => failures)) {
    const key = failureKey(failure);
    const known = sums.get(key) ?? { ...failure, count: 0 };
    const latest = known.at > failure.at ? known : failure;
    sums.set(key, { ...latest, count: failure.count + known.count });
  }
  const latest = [...sums.values()].reverse();
  return latest.sort((a, b) => b.at - a.at).slice(0, maxFailures);
}
