/** Consecutive failures that open the breaker. */
const maxFailures = 5;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/** A use of the service. One function is called once, at its end. */
export interface BreakerUse {
  succeeded(): void;
  failed(error: Error): void;
  /** The caller stopped before the outcome was known. */
  abandoned(): void;
}

/**
 * Suspends the use of a failing service. Opens after several consecutive failures, then allows a
 * probe after each pause, with doubling pauses, and closes when a probe succeeds. While it is open,
 * uses that started earlier change nothing.
 */
export class CircuitBreaker {
  readonly #onChange: (error: Error | null) => void;
  readonly #now: () => number;
  #failures = 0;
  #pauseMs = firstPauseMs;
  /** Used only while it is open. */
  #nextProbeAt = 0;
  #probe: BreakerUse | null = null;

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

  /** Starts a use of the service; returns null if it must not be used now. */
  take(): BreakerUse | null {
    const mustWait = this.#probe !== null || this.#now() < this.#nextProbeAt;
    if (this.isOpen && mustWait) return null;
    const use: BreakerUse = {
      succeeded: () => this.#end(use, () => this.#close()),
      failed: (error) => this.#end(use, () => this.#fail(error)),
      abandoned: () => this.#end(use, () => {}),
    };
    if (this.isOpen) this.#probe = use;
    return use;
  }

  #end(use: BreakerUse, applyOutcome: () => void): void {
    if (this.isOpen && use !== this.#probe) return;
    applyOutcome();
    this.#probe = null;
  }

  #close(): void {
    const wasOpen = this.isOpen;
    this.#failures = 0;
    this.#pauseMs = firstPauseMs;
    if (wasOpen) this.#onChange(null);
  }

  #fail(error: Error): void {
    const wasOpen = this.isOpen;
    this.#failures += 1;
    if (!this.isOpen) return;
    if (wasOpen) this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
    this.#nextProbeAt = this.#now() + this.#pauseMs;
    if (!wasOpen) this.#onChange(error);
  }
}
