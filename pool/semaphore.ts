import { unlessAborted } from './unless-aborted.ts';

/** Limits the number of tasks that run at a time. The others wait in order. */
export class Semaphore {
  #free: number;
  /** Waiting tasks, oldest first. */
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#free = limit;
  }

  /**
   * Resolves when the task can run, with a function to call once at its end.
   * @throws the signal's reason; the task must not run then
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => this.#leave();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    let enter = () => {};
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    this.#waiting.add(enter);
    if (signal === undefined) return entered;
    return unlessAborted(entered, signal, () => {
      // The task was next, but left before it started.
      if (!this.#waiting.delete(enter)) this.#leave();
    });
  }

  /** Starts the next waiting task. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
