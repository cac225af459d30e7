/** A front end tells its stats every second; one that told nothing for so long is frozen. */
const silentAfterMs = 15_000;
const checkEveryMs = 1_000;
/**
 * When the check itself comes so late, this process was held up, by a suspended machine for
 * example, and what the front ends have told meanwhile was not read yet.
 */
const lateCheckMs = 5_000;

export interface LivenessOptions {
  /** A front end that has told nothing for 15 s. */
  readonly onSilent: (frontEnd: number) => void;
  /** ms, monotonic. */
  readonly now?: () => number;
}

/** Notices front ends that are frozen: they hold connections, but answer none. */
export class Liveness {
  readonly #options: LivenessOptions;
  readonly #now: () => number;
  readonly #heardAt = new Map<number, number>();
  #checkedAt: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#checkedAt = this.#now();
  }

  start(): void {
    this.#checkedAt = this.#now();
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** A front end has said something: the first time, and the latest. */
  heard(frontEnd: number): void {
    this.#heardAt.set(frontEnd, this.#now());
  }

  forget(frontEnd: number): void {
    this.#heardAt.delete(frontEnd);
  }

  check(): void {
    const now = this.#now();
    const late = now - this.#checkedAt > lateCheckMs;
    this.#checkedAt = now;
    for (const [frontEnd, heardAt] of this.#heardAt) {
      if (late) this.#heardAt.set(frontEnd, now);
      else if (now - heardAt > silentAfterMs) {
        this.#heardAt.delete(frontEnd);
        this.#options.onSilent(frontEnd);
      }
    }
  }
}
