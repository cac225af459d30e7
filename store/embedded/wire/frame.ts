import { maxMessageBytes } from '../limits.ts';

export const headerBytes = 16;

const firstCapacityBytes = 4096;

/** The client violates the protocol: the connection is closed without a reply. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Limits the bytes of incomplete messages of all connections. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws {MalformedMessage} when the limit is exceeded, which closes this connection */
  take(bytes: number): void {
    if (bytes > this.#left) throw new MalformedMessage('too many buffered bytes');
    this.#left -= bytes;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/**
 * Assembles the messages of one connection. The buffer grows with the bytes received, and not to
 * the length that a header announces. It doubles, so that receiving single bytes costs no more than large chunks.
 */
export class FrameReader {
  readonly #budget: Budget;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Whether an incomplete message is buffered. */
  get partial(): boolean {
    return this.#length > 0;
  }

  /** @throws {MalformedMessage} when the shared budget is exceeded */
  push(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      this.#resize(Math.max(needed, 2 * this.#buffer.length, firstCapacityBytes));
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
    if (announced < headerBytes || announced > maxMessageBytes) {
      throw new MalformedMessage(`a message of ${announced} bytes`);
    }
    if (this.#length < announced) return null;
    const message = Buffer.from(this.#buffer.subarray(0, announced));
    this.#buffer.copy(this.#buffer, 0, announced, this.#length);
    this.#length -= announced;
    if (this.#length === 0) this.release();
    return message;
  }

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
