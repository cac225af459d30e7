/** A process that ran this long has started well. */
const healthyAfterMs = 30_000;

export interface RestartLimits {
  /** Restarts without a delay, in a row. */
  readonly immediate: number;
  /** The delay doubles from `firstMs` up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
}

/** About three minutes of restarts with the longest delays. */
const mostEarlyExits = 12;

/** When a process that has ended is started again: later each time that it ended soon after its start. */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  #earlyExits = 0;

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /**
   * Notes that the process has ended.
   * @param ranMs how long it ran
   * @returns the delay before its restart in ms
   */
  ended(ranMs: number): number {
    this.#earlyExits = ranMs < healthyAfterMs ? this.#earlyExits + 1 : 0;
    const { immediate, firstMs, mostMs } = this.#limits;
    const doubled = this.#earlyExits - immediate - 1;
    return doubled < 0 ? 0 : Math.min(firstMs * 2 ** doubled, mostMs);
  }

  /** Why it is of no use to start the process again, or null. */
  get giveUpReason(): string | null {
    if (this.#earlyExits < mostEarlyExits) return null;
    return `it ended ${this.#earlyExits} times in a row within ${healthyAfterMs / 1_000} s of its start`;
  }
}
