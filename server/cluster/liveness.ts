import { RunningTime } from '../../pool/execution/running-time.ts';

/**
 * Front ends send their stats every second; after this time without a message, a front end is
 * unresponsive. Pauses of this process do not count, because it reads no messages meanwhile.
 */
const unresponsiveAfterMs = 15_000;
const checkEveryMs = 1_000;

interface LivenessOptions {
  /** Called with a front end that has sent no message for 15 s. */
  readonly onUnresponsive: (frontEnd: number) => void;
  /** ms, monotonic. */
  readonly now?: () => number;
}

/** Detects unresponsive front ends, which hold connections and send no response. */
export class Liveness {
  readonly #onUnresponsive: LivenessOptions['onUnresponsive'];
  readonly #time: RunningTime;
  /** By front end, in `#time`. */
  readonly #lastMessageAt = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ onUnresponsive, now }: LivenessOptions) {
    this.#onUnresponsive = onUnresponsive;
    this.#time = new RunningTime(now);
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Records a front end's message, and starts watching it at the first message. */
  messageReceived(frontEnd: number): void {
    this.#lastMessageAt.set(frontEnd, this.#time.ms);
  }

  forget(frontEnd: number): void {
    this.#lastMessageAt.delete(frontEnd);
  }

  check(): void {
    const now = this.#time.ms;
    for (const [frontEnd, lastMessageAt] of this.#lastMessageAt) {
      if (now - lastMessageAt <= unresponsiveAfterMs) continue;
      this.#lastMessageAt.delete(frontEnd);
      this.#onUnresponsive(frontEnd);
    }
  }
}
