/** The caller asks each second; a later question shows that this process did not run. */
const longestStepMs = 2_000;

/**
 * A clock that stands still while this process does not run, such as while the machine or the container is paused.
 * It must be read each second.
 */
export class RunningTime {
  readonly #now: () => number;
  #readAt: number;
  #ms = 0;

  /** @param now ms, monotonic */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#readAt = now();
  }

  /** ms since the creation. */
  get ms(): number {
    const now = this.#now();
    this.#ms += Math.min(now - this.#readAt, longestStepMs);
    this.#readAt = now;
    return this.#ms;
  }
}
