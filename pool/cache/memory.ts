import type { Image } from '../image.ts';
import { FairLru } from './fair-lru.ts';

/**
 * An entry of the memory cache. The cache sets `image` to null on eviction, so that references to the entry
 * do not keep the evicted bytes in memory.
 */
export interface MemoryEntry {
  readonly key: string;
  image: Image | null;
  /** Time of the last counted hit, Unix ms. */
  touchedAt: number;
}

/** Estimated overhead per entry (Map node, headers, strings), which matters for tiny images. */
const overheadBytes = 1_024;

const bytesOf = ({ image }: MemoryEntry): number => (image?.body.byteLength ?? 0) + overheadBytes;

/** Minimum time between updates of an entry's recency, so that frequent hits stay cheap. */
const touchEveryMs = 1_000;

/** The memory cache of this process, bounded by bytes. */
export class MemoryCache {
  readonly #entries = new FairLru<MemoryEntry>(bytesOf, (entry) => {
    entry.image = null;
  });
  readonly #onHit: (key: string) => void;
  readonly maxBytes: number;
  /** Total entries evicted since the start. */
  evictions = 0;

  /** @param onHit called for hits, at most once a second for each key */
  constructor(maxBytes: number, onHit: (key: string) => void) {
    this.maxBytes = maxBytes;
    this.#onHit = onHit;
  }

  get(key: string, now: number): (MemoryEntry & { readonly image: Image }) | null {
    const entry = this.#entries.peek(key);
    if (entry?.image == null) return null;
    this.touch(entry, now);
    return entry as MemoryEntry & { image: Image };
  }

  /** Counts a hit on an entry that the caller has kept. @param now Unix ms */
  touch(entry: MemoryEntry, now: number): void {
    if (now - entry.touchedAt < touchEveryMs) return;
    entry.touchedAt = now;
    this.#entries.use(entry.key);
    this.#onHit(entry.key);
  }

  /** Null when the image is too large for the cache, or the cache is disabled. */
  set(key: string, image: Image, now: number): MemoryEntry | null {
    const entry: MemoryEntry = { key, image, touchedAt: now };
    if (bytesOf(entry) > this.maxBytes) {
      this.#entries.delete(key);
      return null;
    }
    this.#entries.set(key, entry);
    this.evictions += this.#entries.evictTo(this.maxBytes).length;
    return entry.image === null ? null : entry;
  }

  /** Deletes the images of some keys. */
  deleteWhere(matches: (key: string) => boolean): void {
    for (const key of [...this.#entries.keys()].filter(matches)) this.#entries.delete(key);
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  get count(): number {
    return this.#entries.count;
  }
}
