/** Blocks are multiples of this, in bytes: a page of memory on most machines. */
const blockBytes = 4_096;

/** Bytes from `from` to `to`, exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Memory that this thread and the transform threads see, so that a source is not copied to each thread that
 * reads it, and leaves no garbage. Whoever allocates must free: the garbage collector knows nothing
 * of it. V8 does not count the bytes of SharedArrayBuffers when it schedules collections, so many small ones
 * accumulate (2,000 of 5 MB sent to a thread peaked at 2 GB); this is a single one that is used again and
 * again. The operating system provides its pages when they are first written to, the lowest first.
 */
export class SharedMemory {
  readonly #memory: SharedArrayBuffer;
  /** What is free, by address; no two ranges touch. */
  readonly #free: Range[];
  /** What is allocated: the ends by the beginnings. */
  readonly #allocated = new Map<number, number>();

  constructor(bytes: number) {
    this.#memory = new SharedArrayBuffer(Math.floor(bytes / blockBytes) * blockBytes);
    this.#free = [{ from: 0, to: this.#memory.byteLength }];
  }

  /** Bytes that are allocated, in whole blocks. */
  get used(): number {
    let used = 0;
    for (const [from, end] of this.#allocated) used += end - from;
    return used;
  }

  /** Bytes of any content, in the first range that is large enough; null where there is none. */
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

  /** Frees what `allocate` has returned; other bytes are left to the garbage collector. */
  free({ buffer, byteOffset }: Uint8Array): void {
    if (buffer !== this.#memory) return;
    const end = this.#allocated.get(byteOffset);
    if (end === undefined) throw new Error('These bytes are free already.');
    this.#allocated.delete(byteOffset);
    const next = this.#firstFrom(byteOffset);
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

  /** The index of the first free range that begins at an address or after it. */
  #firstFrom(address: number): number {
    let [low, high] = [0, this.#free.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#free[middle] as Range).from < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
