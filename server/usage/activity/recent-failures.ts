import type { NameBudget } from './top-counts.ts';

/** A failed request, without secrets. */
export interface FailedRequest {
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  /** '' if the URL does not name a source. */
  readonly source: string;
  /** The image's path and parameters. */
  readonly url: string;
  readonly message: string;
  readonly hint: string;
  /** Id of the last request, for log lines and traces. */
  readonly requestId: string;
}

/** Equal failures. */
export interface Failure extends FailedRequest {
  /** Time of the last occurrence, Unix ms. */
  readonly at: number;
  readonly count: number;
}

export const maxFailures = 100;

/** Returns the same key for equal failures. */
export const failureKey = ({ code, url }: Pick<Failure, 'code' | 'url'>): string =>
  `${code} ${url}`;

/** The latest distinct failures. */
export class RecentFailures {
  /** From oldest to newest. */
  readonly #failures = new Map<string, Failure>();
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
  list(): readonly Failure[] {
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
