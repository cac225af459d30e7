import { ServiceError } from '../../contract/errors.ts';
import type { FairShare, Owner } from '../fair-share.ts';
import type { SharedMemory } from './shared-memory.ts';

/**
 * Maximum allocation before any bytes have arrived, so that a false Content-Length costs no more. Most images
 * are smaller and are written once, into a buffer of their exact size.
 */
const firstAllocation = 1024 * 1024;
/** The first allocation for a body of unknown length. */
const guessedLength = 64 * 1024;

export interface BodyLimits {
  readonly maxBytes: number;
  /** Counts the bytes, for their owner. */
  readonly budget: FairShare;
  readonly owner: Owner;
  /** Preferred memory of the buffer. */
  readonly memory: Pick<SharedMemory, 'allocate' | 'free'>;
  /** The Content-Length; null when it is absent or the body is decoded. */
  readonly length: number | null;
}

/**
 * Reads a body into one buffer of exactly its length, which the caller must release in the budget and free.
 *
 * @throws ServiceError source_too_large | source_corrupt (empty) | overloaded, or the error of `chunks`
 */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, budget, owner, length, memory }: BodyLimits,
): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(0);
  let filled = 0;

  const resize = (size: number) => {
    if (size === bytes.byteLength) return;
    // Both buffers exist during the copy, so both count.
    if (!budget.take(owner, size)) {
      throw new ServiceError('overloaded', 'Too many bytes of sources are in memory.');
    }
    const resized = memory.allocate(size) ?? new Uint8Array(size);
    copy(bytes.subarray(0, filled), resized, 0);
    budget.release(owner, bytes.byteLength);
    memory.free(bytes);
    bytes = resized;
  };

  try {
    for await (const chunk of chunks) {
      const needed = filled + chunk.byteLength;
      if (needed > maxBytes) throw sourceTooLarge(maxBytes);
      if (needed > bytes.byteLength) {
        const wanted = bytes.byteLength === 0 ? firstSize(length) : bytes.byteLength * 2;
        resize(Math.max(needed, Math.min(wanted, length ?? maxBytes)));
      }
      copy(chunk, bytes, filled);
      filled = needed;
    }
    if (filled === 0) throw new ServiceError('source_corrupt', 'The source is empty.');
    resize(filled);
    return bytes;
  } catch (error) {
    budget.release(owner, bytes.byteLength);
    memory.free(bytes);
    throw error;
  }
}

/**
 * Copies with `fill`, which uses one `memcpy`: 0.04 ms for 0.8 MB. `set` takes 0.5 ms, because it copies to
 * shared memory by an atomic operation for each byte.
 */
function copy(from: Uint8Array, to: Uint8Array, at: number): void {
  if (from.byteLength === 0) return;
  const target = Buffer.from(to.buffer, to.byteOffset, to.byteLength);
  target.fill(from, at, at + from.byteLength);
}

export function sourceTooLarge(maxBytes: number): ServiceError {
  return new ServiceError('source_too_large', `The source is larger than ${maxBytes} bytes.`);
}

function firstSize(length: number | null): number {
  return length === null ? guessedLength : Math.min(length, firstAllocation);
}
