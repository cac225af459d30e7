import type { StoredFailure } from '../../../store/activity.ts';
import type { NameBudget } from './top-counts.ts';

export type FailedRequest = Omit<StoredFailure, 'at' | 'count'>;

export const maxFailures = 100;

/** Returns the same key for equal failures. */
export const failureKey = ({ code, url }: Pick<StoredFailure, 'code' | 'url'>): string =>
  `${code} ${url}`;

/** The latest distinct failures. */
export class RecentFailures {
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
