/** Consecutive failures that open the breaker. */
const maxFailures = 5;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/**
 * Suspends the use of a failing service. Opens after several consecutive failures, then allows a
 * probe after each pause, with doubling pauses, and closes when a probe succeeds.
 */
export class CircuitBreaker {
  readonly #onChange: (error: Error | null) => void;
  readonly #now: () => number;
  #failures = 0;
  #pauseMs = firstPauseMs;
  /** Used only while it is open. */
  #nextProbeAt = 0;
  #probing = false;

  /**
   * @param onChange called with the last error when the breaker opens, and with null when it
   *   closes
   * @param now monotonic ms
   */
  constructor(onChange: (error: Error | null) => void, now = () => performance.now()) {
    this.#onChange = onChange;
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#failures >= maxFailures;
  }

  /**
   * Returns whether the service can be used. After true, the caller must call `succeeded`, `failed`
   * or `abandoned`.
   */
  take(): boolean {
    if (!this.isOpen) return true;
    if (this.#probing || this.#now() < this.#nextProbeAt) return false;
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    const wasOpen = this.isOpen;
    this.#failures = 0;
    this.#probing = false;
    this.#pauseMs = firstPauseMs;
    if (wasOpen) this.#onChange(null);
  }

  failed(error: Error): void {
    const wasOpen = this.isOpen;
    // Ignores uses that started before the breaker opened: only a probe changes an open breaker.
    if (wasOpen && !this.#probing) return;
    this.#failures += 1;
    this.#probing = false;
    if (!this.isOpen) return;
    if (wasOpen) this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
    this.#nextProbeAt = this.#now() + this.#pauseMs;
    if (!wasOpen) this.#onChange(error);
  }

  /** Called if the caller stopped before the outcome was known. */
  abandoned(): void {
    this.#probing = false;
  }
}
