import { MalformedMessage } from './frame.ts';

/** Reads forward through a part of a message, and never past its end. */
export class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  position: number;

  constructor(bytes: Buffer, position: number, end: number) {
    this.#bytes = bytes;
    this.position = position;
    this.#end = end;
  }

  get done(): boolean {
    return this.position >= this.#end;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#advance(1));
  }

  int32(): number {
    return this.#bytes.readInt32LE(this.#advance(4));
  }

  cstring(): string {
    const end = this.#bytes.indexOf(0, this.position);
    if (end === -1 || end >= this.#end) throw new MalformedMessage('an unterminated string');
    return this.#bytes.toString('utf8', this.#advance(end + 1 - this.position), end);
  }

  document(): Buffer {
    const length = this.#lengthAhead(5);
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** What a section with a length of its own holds. */
  section(): Reader {
    const length = this.#lengthAhead(4);
    const start = this.#advance(length);
    return new Reader(this.#bytes, start + 4, start + length);
  }

  #lengthAhead(least: number): number {
    const start = this.#advance(4);
    this.position = start;
    const length = this.#bytes.readInt32LE(start);
    if (length < least) throw new MalformedMessage(`a length of ${length}`);
    return length;
  }

  #advance(bytes: number): number {
    const start = this.position;
    if (start + bytes > this.#end) throw new MalformedMessage('a message that ends too early');
    this.position = start + bytes;
    return start;
  }
}
