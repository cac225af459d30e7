/** The caller asks each second; a later question shows that this process did not run. */
const longestStepMs = 2_000;

/**
 * A clock that stands still while this process does not run, such as while the machine or the container is paused.
 * It must be read each second.
 */
export class RunningTime {
  #readAt = performance.now();
  #ms = 0;

  /** ms since the creation. */
  get ms(): number {
    const now = performance.now();
    this.#ms += Math.min(now - this.#readAt, longestStepMs);
    this.#readAt = now;
    return this.#ms;
  }
}
