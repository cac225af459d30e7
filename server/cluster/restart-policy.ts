/** A process that exits sooner has exited early. */
export const healthyAfterMs = 30_000;

export interface RestartLimits {
  /** Consecutive restarts without delay. */
  readonly immediate: number;
  /** The delay doubles from `firstMs` up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** Limit of consecutive early exits before the process was ready. */
  readonly failedStarts: number;
}

/**
 * Delays a process's restarts, longer after each early exit. A process that was ready always
 * restarts: a request might have ended it, and then the next start works.
 */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  #earlyExits = 0;
  #failedStarts = 0;

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /**
   * Records an exit.
   * @param ranMs lifetime of the process
   * @param wasReady whether it completed its start
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

  /** Returns the reason not to restart the process, or null. */
  get giveUpReason(): string | null {
    if (this.#failedStarts < this.#limits.failedStarts) return null;
    return `it ended ${this.#failedStarts} times in a row before it was ready`;
  }
}
