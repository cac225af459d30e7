import { ServiceError } from '../../contract/errors.ts';
import type { FairShare, Owner } from '../fair-share.ts';
import type { SharedMemory } from './shared-memory.ts';

/**
 * Maximum allocation for the first bytes, so that a false Content-Length costs no more. Most images
 * are smaller and are written once, into a buffer of exact size.
 */
const firstAllocation = 2 * 1024 * 1024;
/** The first allocation for a body of unknown length. */
const guessedLength = 64 * 1024;

/** Memory for bodies, and the budget against which their bytes count. */
export interface BodyMemory {
  /** Counts the bytes, for their owner. */
  readonly budget: FairShare;
  readonly owner: Owner;
  /** Preferred memory of the buffer. */
  readonly memory: Pick<SharedMemory, 'allocate' | 'free'>;
}

export interface BodyLimits extends BodyMemory {
  readonly maxBytes: number;
  /** The Content-Length; null if absent or if the body is decoded. */
  readonly length: number | null;
}

/** Writes the chunks of a body into one buffer. Ends with either `finish` or `discard`. */
export class BodyWriter {
  readonly #limits: BodyLimits;
  #bytes: Uint8Array = new Uint8Array(0);
  #filled = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** @throws ServiceError source_too_large | overloaded */
  write(chunk: Uint8Array): void {
    const { maxBytes, length } = this.#limits;
    const { byteLength } = this.#bytes;
    const needed = this.#filled + chunk.byteLength;
    if (needed > maxBytes) throw sourceTooLarge(maxBytes);
    if (needed > byteLength) {
      const wanted = byteLength === 0 ? firstSize(length) : byteLength * 2;
      this.#resize(Math.max(needed, Math.min(wanted, length ?? maxBytes)));
    }
    copy(chunk, this.#bytes, this.#filled);
    this.#filled = needed;
  }

  /**
   * Returns the body in a buffer of exactly its length, which the caller must release.
   *
   * @throws ServiceError source_corrupt (empty) | overloaded
   */
  finish(): Uint8Array {
    if (this.#filled === 0) throw new ServiceError('source_corrupt', 'The source is empty.');
    this.#resize(this.#filled);
    return this.#bytes;
  }

  discard(): void {
    releaseBody(this.#bytes, this.#limits);
  }

  #resize(size: number): void {
    const { budget, owner, memory } = this.#limits;
    const bytes = this.#bytes;
    if (size === bytes.byteLength) return;
    // Both buffers exist during the copy, so both count.
    if (!budget.take(owner, size)) {
      throw tooManyBytes();
    }
    const resized = memory.allocate(size) ?? new Uint8Array(size);
    copy(bytes.subarray(0, this.#filled), resized, 0);
    releaseBody(bytes, this.#limits);
    this.#bytes = resized;
  }
}

/**
 * Reads a body into one buffer of exactly its length, which the caller must release.
 *
 * @throws ServiceError source_too_large | source_corrupt (empty) | overloaded, or the error of
 *   `chunks`
 */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const writer = new BodyWriter(limits);
  try {
    for await (const chunk of chunks) writer.write(chunk);
    return writer.finish();
  } catch (error) {
    writer.discard();
    throw error;
  }
}

/** Frees a body's memory and its part of the budget. */
export function releaseBody(bytes: Uint8Array, { budget, owner, memory }: BodyMemory): void {
  budget.release(owner, bytes.byteLength);
  memory.free(bytes);
}

/**
 * Copies with `fill`, which uses one `memcpy`; `set` copies to shared memory with an atomic
 * operation per byte.
 */
function copy(from: Uint8Array, to: Uint8Array, at: number): void {
  if (from.byteLength === 0) return;
  const target = Buffer.from(to.buffer, to.byteOffset, to.byteLength);
  target.fill(from, at, at + from.byteLength);
}

export const tooManyBytes = (): ServiceError =>
  new ServiceError('overloaded', 'Too many source bytes are in memory.');

export function sourceTooLarge(maxBytes: number): ServiceError {
  return new ServiceError('source_too_large', `The source is larger than ${maxBytes} bytes.`);
}

function firstSize(length: number | null): number {
  return length === null ? guessedLength : Math.min(length, firstAllocation);
}
