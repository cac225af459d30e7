/** Counts bytes in memory against a limit. */
export class ByteBudget {
  readonly limit: number;
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** Counts `bytes` and returns true, or returns false when they would exceed the limit. */
  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    return true;
  }

  /** Counts bytes that are in memory already, even beyond the limit. */
  add(bytes: number): void {
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
