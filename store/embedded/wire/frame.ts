import { maxMessageBytes } from '../limits.ts';

export const headerBytes = 16;

const firstCapacityBytes = 4096;

/** The client violates the protocol, so the server closes the connection without replying. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/**
 * Assembles a connection's messages. The buffer grows with the received bytes, regardless of the
 * length that a header announces. It doubles, so that single bytes cost no more than large chunks.
 */
export class FrameReader {
  #buffer = Buffer.alloc(0);
  #length = 0;

  push(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const before = this.#buffer;
      this.#buffer = Buffer.alloc(Math.max(needed, 2 * before.length, firstCapacityBytes));
      before.copy(this.#buffer, 0, 0, this.#length);
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
    if (this.#length === 0) this.#buffer = Buffer.alloc(0);
    return message;
  }
}
