import type { Logger } from '../contract/log.ts';

/** How the primary ends: when it is told to, with whoever started it, or because it must. */
export class Shutdown {
  readonly #log: Logger;
  readonly #begun = new AbortController();
  readonly #parts: (() => Promise<unknown>)[] = [];

  constructor(log: Logger) {
    this.#log = log;
    process.on('SIGTERM', () => void this.stop(0));
    // Whoever started this as a part of the whole is gone.
    process.on('disconnect', () => void this.stop(0));
    if (process.connected === false) void this.stop(0);
    process.on('SIGINT', () => {
      // A second Ctrl-C is from somebody who does not want to wait for requests in flight.
      if (this.begun.aborted) process.exit(130);
      void this.stop(0);
    });
  }

  /** Aborted when the process is ending. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** A part that has begun and must end before the process does, and before those added earlier. */
  add(end: () => Promise<unknown>): void {
    this.#parts.push(end);
  }

  async stop(exitCode: number): Promise<void> {
    if (this.begun.aborted) return;
    this.#begun.abort();
    this.#log.info('stopping');
    for (const end of this.#parts.reverse()) await end();
    this.#log.info('stopped');
    process.exit(exitCode);
  }

  /** Says in one line why there is no going on, and ends. */
  async giveUp(reason: string, error?: unknown): Promise<never> {
    // What a process that is ending fails at is no news.
    if (!this.begun.aborted) {
      this.#log.fatal({ err: error }, reason);
      process.stderr.write(`${reason}\n`);
      await this.stop(1);
    }
    return new Promise(() => {});
  }
}
