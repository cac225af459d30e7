import type { NameCount, StoredActivity } from '../../../store/activity.ts';
import { type RequestCounts, tiers } from '../request-counts.ts';
import { addDuration, type DurationCounts } from './durations.ts';
import { type FailedRequest, RecentFailures } from './recent-failures.ts';
import { type NameBudget, TopCounts } from './top-counts.ts';

export const countFields = [
  ...tiers,
  'unsigned',
  'bytes',
  'originalBytes',
  'comparedBytes',
] as const;
export type ActivityCounts = Record<(typeof countFields)[number], number>;

const zero = Object.fromEntries(countFields.map((field) => [field, 0])) as ActivityCounts;
export const noActivity = (): ActivityCounts => ({ ...zero });

/** Maximum names per list, in the store and in responses. */
export const maxTopNames = 20;

/**
 * A project's request figures in one interval. Lists are created with their first name, because
 * many projects are idle.
 */
export class ActivitySlice {
  readonly counts: ActivityCounts = noActivity();
  readonly durations: DurationCounts = new Map();
  readonly #budget: NameBudget;
  #sources: TopCounts | null = null;
  #variants: TopCounts | null = null;
  #failures: RecentFailures | null = null;
  /** Whether it has changed since the last store. */
  isChanged = false;

  constructor(budget: NameBudget) {
    this.#budget = budget;
  }

  countRequests({ live }: RequestCounts): void {
    this.isChanged = true;
    for (const tier of tiers) this.counts[tier] += live.tiers[tier];
    this.counts.bytes += live.bytes;
  }

  countNames(source: string, variant: string, requests: number): void {
    this.isChanged = true;
    this.#sources ??= new TopCounts(this.#budget);
    this.#variants ??= new TopCounts(this.#budget);
    this.#sources.add(source, requests);
    this.#variants.add(variant, requests);
  }

  countUnsigned(requests: number): void {
    this.isChanged = true;
    this.counts.unsigned += requests;
  }

  /**
   * @param compared delivered bytes of images with an original of known size
   * @param original size of those originals
   */
  countOriginals(compared: number, original: number): void {
    this.isChanged = true;
    this.counts.comparedBytes += compared;
    this.counts.originalBytes += original;
  }

  countMiss(ms: number): void {
    this.isChanged = true;
    addDuration(this.durations, ms);
  }

  addFailure(failed: FailedRequest, at: number): void {
    this.isChanged = true;
    this.#failures ??= new RecentFailures(this.#budget);
    this.#failures.add(failed, at);
  }

  /** Number of names and failures. */
  get size(): number {
    const lists = [this.#sources, this.#variants, this.#failures];
    return lists.reduce((sum, list) => sum + (list?.size ?? 0), 0);
  }

  stored(): StoredActivity {
    return {
      counts: { ...this.counts },
      durations: [...this.durations].map(([bucket, count]) => ({ bucket, count })),
      sources: named(this.#sources),
      variants: named(this.#variants),
      failures: this.#failures?.list() ?? [],
    };
  }
}

const named = (counts: TopCounts | null): readonly NameCount[] =>
  (counts?.list() ?? []).slice(0, maxTopNames).filter(({ count }) => count > 0);
