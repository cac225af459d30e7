import { LRUCache } from 'lru-cache';
import { keyTagDigits } from './object-key.ts';

/**
 * The guaranteed shares' combined fraction of the bytes. In the tests' simulation, a quarter keeps
 * at least 98% of an unshared cache's hits, and a half 91%.
 */
const guaranteedPart = 1 / 4;

/**
 * A cache's entries in order of use, by cache keys, which start with their project's digits. Evicts
 * the least recently used entries, but never from a project within its guaranteed share: a quarter
 * of the bytes, divided by the number of projects with entries. So requests for one project do not
 * evict all of another's images, and images of unused projects keep at most a quarter of the bytes.
 */
export class FairLru<V extends {}> {
  readonly #entries: LRUCache<string, V>;
  readonly #countBytes: (value: V) => number;
  /** Bytes by the digits of the project. */
  readonly #projects = new Map<string, number>();

  /**
   * @param countBytes at least 1, and constant for a value
   * @param onRemove called with each replaced or removed value
   */
  constructor(countBytes: (value: V) => number, onRemove: (value: V) => void = () => {}) {
    this.#countBytes = countBytes;
    this.#entries = new LRUCache({
      // `evictTo` keeps the limit.
      maxSize: Number.MAX_SAFE_INTEGER,
      maxEntrySize: Number.MAX_SAFE_INTEGER,
      sizeCalculation: countBytes,
      dispose: onRemove,
    });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get count(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Does not count as a use. */
  peek(key: string): V | undefined {
    return this.#entries.peek(key);
  }

  /** Moves an entry to the end of the eviction order. */
  use(key: string): void {
    this.#entries.get(key);
  }

  set(key: string, value: V): void {
    const before = this.#entries.peek(key);
    const change = this.#countBytes(value) - (before === undefined ? 0 : this.#countBytes(before));
    this.#change(key, change);
    this.#entries.set(key, value);
  }

  delete(key: string): void {
    const value = this.#entries.peek(key);
    if (value === undefined) return;
    this.#change(key, -this.#countBytes(value));
    this.#entries.delete(key);
  }

  /** Returns the keys, most recently used first. */
  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /**
   * Evicts entries until the rest fits this size. An entry spared because of its project's share
   * counts as used, so that each is checked once per turnover of the cache.
   * @returns the evicted entries' keys
   */
  evictTo(bytes: number): string[] {
    const evicted: string[] = [];
    while (this.bytes > bytes) {
      const { value: key, done } = this.#entries.rkeys().next();
      if (done) break;
      const held = this.#projects.get(toProjectTag(key)) ?? 0;
      if (held * this.#projects.size <= bytes * guaranteedPart) {
        this.use(key);
        continue;
      }
      this.delete(key);
      evicted.push(key);
    }
    return evicted;
  }

  #change(key: string, bytes: number): void {
    const project = toProjectTag(key);
    const held = (this.#projects.get(project) ?? 0) + bytes;
    if (held === 0) this.#projects.delete(project);
    else this.#projects.set(project, held);
  }
}

const toProjectTag = (key: string): string => key.slice(0, keyTagDigits);
