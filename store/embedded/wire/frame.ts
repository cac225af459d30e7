import { MAX_MESSAGE_BYTES } from '../limits.ts';

export const HEADER_BYTES = 16;

const FIRST_CAPACITY_BYTES = 4096;

/** The peer does not speak the protocol; there is nothing to reply to, and the connection ends. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Bytes that all connections together may hold for messages that are not complete. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws {MalformedMessage} when there is no room: the connection that asked has to go */
  take(bytes: number): void {
    if (bytes > this.#left) throw new MalformedMessage('too much is buffered');
    this.#left -= bytes;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/**
 * Puts the messages of one connection together. Memory grows with what has arrived, never with
 * what a header announces, and by doubling, so that single bytes cost no more than large chunks.
 */
export class FrameReader {
  readonly #budget: Budget;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Whether a message has begun and is not complete. */
  get partial(): boolean {
    return this.#length > 0;
  }

  /** @throws {MalformedMessage} when the shared budget has no room for it */
  push(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      this.#resize(Math.max(needed, 2 * this.#buffer.length, FIRST_CAPACITY_BYTES));
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  /**
   * The next complete message, header included.
   * @throws {MalformedMessage} as soon as a header announces an impossible length
   */
  take(): Buffer | null {
    if (this.#length < 4) return null;
    const announced = this.#buffer.readInt32LE(0);
    if (announced < HEADER_BYTES || announced > MAX_MESSAGE_BYTES) {
      throw new MalformedMessage(`a message of ${announced} bytes`);
    }
    if (this.#length < announced) return null;
    const message = Buffer.from(this.#buffer.subarray(0, announced));
    this.#buffer.copy(this.#buffer, 0, announced, this.#length);
    this.#length -= announced;
    if (this.#length === 0) this.release();
    return message;
  }

  /** Lets go of everything. */
  release(): void {
    this.#length = 0;
    this.#resize(0);
  }

  #resize(capacity: number): void {
    this.#budget.give(this.#buffer.length);
    const before = this.#buffer;
    this.#buffer = Buffer.alloc(0);
    this.#budget.take(capacity);
    this.#buffer = Buffer.alloc(capacity);
    before.copy(this.#buffer, 0, 0, this.#length);
  }
}
