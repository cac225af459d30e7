/**
 * Front ends send their stats every second; after this time without a message, a front end is
 * unresponsive.
 */
const unresponsiveAfterMs = 15_000;
const checkEveryMs = 1_000;
/**
 * A check that runs this late shows that this process was blocked, for example while the machine
 * was suspended, and could not read the front ends' messages.
 */
const stallThresholdMs = 5_000;

interface LivenessOptions {
  /** Called with a front end that has sent no message for 15 s. */
  readonly onUnresponsive: (frontEnd: number) => void;
  /** ms, monotonic. */
  readonly now?: () => number;
}

/** Detects unresponsive front ends, which hold connections and send no response. */
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

  /** Records a front end's message, and starts watching it at the first message. */
  messageReceived(frontEnd: number): void {
    this.#lastMessageAt.set(frontEnd, this.#now());
  }

  forget(frontEnd: number): void {
    this.#lastMessageAt.delete(frontEnd);
  }

  check(): void {
    const now = this.#now();
    const late = now - this.#checkedAt > stallThresholdMs;
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
