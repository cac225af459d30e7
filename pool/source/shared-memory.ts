import { firstIndex } from '../first-index.ts';

/** Blocks are multiples of this, in bytes: a page of memory on most machines. */
const blockBytes = 4_096;

/** Bytes from `from` to `to`, exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * An allocator in memory shared with the transform threads, so that threads need no copies of
 * sources, which would become garbage. The caller must free each allocation. V8 does not count
 * SharedArrayBuffers when it schedules collections, so many small buffers accumulate; this is a
 * single reused buffer. The operating system provides its pages on the first write, the lowest
 * first.
 */
export class SharedMemory {
  readonly #memory: SharedArrayBuffer;
  /** Free ranges by address, never adjacent. */
  readonly #free: Range[];
  /** The ends of the allocated ranges by their starts. */
  readonly #allocated = new Map<number, number>();

  constructor(bytes: number) {
    this.#memory = new SharedArrayBuffer(Math.floor(bytes / blockBytes) * blockBytes);
    this.#free = [{ from: 0, to: this.#memory.byteLength }];
  }

  /** Allocated bytes, in whole blocks. */
  get used(): number {
    let used = 0;
    for (const [from, end] of this.#allocated) used += end - from;
    return used;
  }

  /**
   * Allocates uninitialised bytes in the first range that is large enough; returns null if every
   * range is too small.
   */
  allocate(bytes: number): Uint8Array | null {
    const size = Math.max(1, Math.ceil(bytes / blockBytes)) * blockBytes;
    const index = this.#free.findIndex(({ from, to }) => to - from >= size);
    const range = this.#free[index];
    if (range === undefined) return null;
    const { from, to } = range;
    const end = from + size;
    this.#free.splice(index, 1, ...(end < to ? [{ from: end, to }] : []));
    this.#allocated.set(from, end);
    return new Uint8Array(this.#memory, from, bytes);
  }

  /** Frees bytes from `allocate`, and ignores others. */
  free({ buffer, byteOffset }: Uint8Array): void {
    if (buffer !== this.#memory) return;
    const end = this.#allocated.get(byteOffset);
    if (end === undefined) throw new Error('These bytes are free already.');
    this.#allocated.delete(byteOffset);
    const next = firstIndex(
      this.#free.length,
      (index) => (this.#free[index] as Range).from >= byteOffset,
    );
    const before = this.#free[next - 1];
    const after = this.#free[next];
    const joinsBefore = before?.to === byteOffset;
    const joinsAfter = after?.from === end;
    const whole = {
      from: joinsBefore ? before.from : byteOffset,
      to: joinsAfter ? after.to : end,
    };
    const start = joinsBefore ? next - 1 : next;
    this.#free.splice(start, Number(joinsBefore) + Number(joinsAfter), whole);
  }
}
