/** A front end sends its stats every second; without a message for this long it is unresponsive. */
const unresponsiveAfterMs = 15_000;
const checkEveryMs = 1_000;
/**
 * When the check itself runs this late, this process was blocked, by a suspended machine for
 * example, and has not yet read the messages that the front ends have sent.
 */
const lateCheckMs = 5_000;

export interface LivenessOptions {
  /** Called with a front end that has sent no message for 15 s. */
  readonly onUnresponsive: (frontEnd: number) => void;
  /** ms, monotonic. */
  readonly now?: () => number;
}

/** Detects front ends that are unresponsive: they hold connections, but send no response. */
export class Liveness {
  readonly #options: LivenessOptions;
  readonly #now: () => number;
  readonly #lastMessageAt = new Map<number, number>();
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

  /** A front end has sent a message; it is watched from the first one on. */
  messageReceived(frontEnd: number): void {
    this.#lastMessageAt.set(frontEnd, this.#now());
  }

  forget(frontEnd: number): void {
    this.#lastMessageAt.delete(frontEnd);
  }

  check(): void {
    const now = this.#now();
    const late = now - this.#checkedAt > lateCheckMs;
    this.#checkedAt = now;
    for (const [frontEnd, lastMessageAt] of this.#lastMessageAt) {
      if (late) this.#lastMessageAt.set(frontEnd, now);
      else if (now - lastMessageAt > unresponsiveAfterMs) {
        this.#lastMessageAt.delete(frontEnd);
        this.#options.onUnresponsive(frontEnd);
      }
    }
  }
}
