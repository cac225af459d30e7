/** Lets a limited number of tasks run at a time. The others wait, the first one first. */
export class Turns {
  #free: number;
  /** In order. */
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#free = limit;
  }

  /**
   * Waits for a turn, which ends when the returned function is called (once).
   * @throws the signal's reason, without a turn
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => this.#leave();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Passes the turn on. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
