/** A block is split in two when it is longer than this. */
const maxBlockItems = 512;

/**
 * A sorted list in blocks, so that an insertion or removal moves only one block's items. V8 copies
 * a long array as a whole.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** Without empty ones. */
  #blocks: T[][] = [];

  /** @param compare must not be 0 for two items of the list */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  fill(items: readonly T[]): void {
    const sorted = items.toSorted(this.#compare);
    this.#blocks = [];
    for (let i = 0; i < sorted.length; i += maxBlockItems / 2) {
      this.#blocks.push(sorted.slice(i, i + maxBlockItems / 2));
    }
  }

  insert(item: T): void {
    const [number, offset] = this.#find((other) => this.#compare(other, item) >= 0);
    // An item after all others goes to the last block.
    const target = Math.min(number, this.#blocks.length - 1);
    const block = this.#blocks[target];
    if (block === undefined) {
      this.#blocks.push([item]);
      return;
    }
    block.splice(target === number ? offset : block.length, 0, item);
    if (block.length > maxBlockItems) {
      this.#blocks.splice(target + 1, 0, block.splice(maxBlockItems / 2));
    }
  }

  remove(item: T): void {
    const [number, offset] = this.#find((other) => this.#compare(other, item) >= 0);
    const block = this.#blocks[number];
    const found = block?.[offset];
    if (block === undefined || found === undefined || this.#compare(found, item) !== 0) return;
    block.splice(offset, 1);
    if (block.length === 0) this.#blocks.splice(number, 1);
  }

  /** @param test false for all items before the position, true for all from there on */
  first(test: (item: T) => boolean): number {
    const [number, offset] = this.#find(test);
    let position = offset;
    for (let i = 0; i < number; i += 1) position += this.#blocks[i]?.length ?? 0;
    return position;
  }

  /** The items at the positions `[from, to)`. The list must not change in the meantime. */
  *slice(from = 0, to = Number.POSITIVE_INFINITY): Generator<T> {
    let start = 0;
    for (const block of this.#blocks) {
      if (start >= to) return;
      for (let i = Math.max(0, from - start); i < Math.min(block.length, to - start); i += 1) {
        yield block[i] as T;
      }
      start += block.length;
    }
  }

  #find(test: (item: T) => boolean): readonly [block: number, offset: number] {
    const number = firstIndex(this.#blocks.length, (n) => test(this.#blocks[n]?.at(-1) as T));
    const block = this.#blocks[number] ?? [];
    return [number, firstIndex(block.length, (n) => test(block[n] as T))];
  }
}

/**
 * Returns the first index below `count` that passes the test, or `count`. All later indexes must pass
 * it too.
 */
function firstIndex(count: number, test: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
