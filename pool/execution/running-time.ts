/** The caller reads the clock each second; a longer gap means that this process did not run. */
const longestStepMs = 2_000;

/**
 * A clock that stops while this process does not run, such as while the machine or container is
 * paused. Must be read each second.
 */
export class RunningTime {
  readonly #clock: () => number;
  #readAt: number;
  #ms = 0;

  /** @param clock ms, monotonic */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
    this.#readAt = clock();
  }

  /** ms since the creation. */
  get ms(): number {
    const now = this.#clock();
    this.#ms += Math.min(now - this.#readAt, longestStepMs);
    this.#readAt = now;
    return this.#ms;
  }
}
