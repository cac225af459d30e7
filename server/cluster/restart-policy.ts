/** A process that ran this long has started well. */
const healthyAfterMs = 30_000;

export interface RestartLimits {
  /** Restarts without a delay, in a row. */
  readonly immediate: number;
  /** The delay doubles from `firstMs` up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** It is given up after so many early exits in a row of processes that were not ready. */
  readonly failedStarts: number;
}

/**
 * When a process that has ended is started again: later each time that it ended soon after its start. One
 * that was ready is always started again, because a request may have ended it, and the next start works.
 */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  #earlyExits = 0;
  #failedStarts = 0;

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /**
   * Notes that the process has ended.
   * @param ranMs how long it ran
   * @param wasReady whether it has listened, or whatever else its start is for
   * @returns the delay before its restart in ms
   */
  ended(ranMs: number, wasReady: boolean): number {
    const early = ranMs < healthyAfterMs;
    this.#earlyExits = early ? this.#earlyExits + 1 : 0;
    this.#failedStarts = early && !wasReady ? this.#failedStarts + 1 : 0;
    const { immediate, firstMs, mostMs } = this.#limits;
    const doubled = this.#earlyExits - immediate - 1;
    return doubled < 0 ? 0 : Math.min(firstMs * 2 ** doubled, mostMs);
  }

  /** Why it is of no use to start the process again, or null. */
  get giveUpReason(): string | null {
    if (this.#failedStarts < this.#limits.failedStarts) return null;
    return `it ended ${this.#failedStarts} times in a row before it was ready`;
  }
}
