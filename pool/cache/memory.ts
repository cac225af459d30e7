import { LRUCache } from 'lru-cache';
import type { Image, Provenance } from '../image.ts';

/**
 * An entry of the memory cache. The cache sets `image` to null on eviction, so that references to the entry
 * do not keep the evicted bytes in memory.
 */
export interface MemoryEntry {
  readonly key: string;
  image: Image | null;
  provenance: Provenance;
  /** Time of the last counted hit, in ms of the cache's clock. */
  touchedAt: number;
}

/** Estimated overhead per entry (Map node, headers, strings), which matters for tiny images. */
const overheadBytes = 1_024;

/** Minimum time between updates of an entry's recency, so that frequent hits stay cheap. */
const touchEveryMs = 1_000;

/** The memory cache of this process: an LRU cache bounded by bytes. */
export class MemoryCache {
  readonly #entries: LRUCache<string, MemoryEntry> | null;
  readonly #onHit: (key: string) => void;
  readonly maxBytes: number;
  /** Total entries evicted since the start. */
  evictions = 0;

  /** @param onHit called for hits, at most once a second for each key */
  constructor(maxBytes: number, onHit: (key: string) => void) {
    this.maxBytes = maxBytes;
    this.#onHit = onHit;
    this.#entries =
      maxBytes === 0
        ? null
        : new LRUCache({
            maxSize: maxBytes,
            sizeCalculation: (entry) => (entry.image?.body.byteLength ?? 0) + overheadBytes,
            dispose: (entry, _, reason) => {
              if (reason === 'evict') this.evictions += 1;
              entry.image = null;
            },
          });
  }

  get(key: string, now: number): (MemoryEntry & { readonly image: Image }) | null {
    const entry = this.#entries?.peek(key);
    if (entry?.image == null) return null;
    this.touch(entry, now);
    return entry as MemoryEntry & { image: Image };
  }

  /** Counts a hit on an entry that the caller has kept. */
  touch(entry: MemoryEntry, now: number): void {
    if (now - entry.touchedAt < touchEveryMs) return;
    entry.touchedAt = now;
    this.#entries?.get(entry.key);
    this.#onHit(entry.key);
  }

  /** Null when the image is too large for the cache, or the cache is disabled. */
  set(key: string, image: Image, provenance: Provenance, now: number): MemoryEntry | null {
    const entry: MemoryEntry = { key, image, provenance, touchedAt: now };
    this.#entries?.set(key, entry);
    return this.#entries?.has(key) ? entry : null;
  }

  /** Deletes some images. */
  purge(isPurged: (provenance: Provenance) => boolean): void {
    for (const [key, { provenance }] of this.#entries?.entries() ?? []) {
      if (isPurged(provenance)) this.#entries?.delete(key);
    }
  }

  get bytes(): number {
    return this.#entries?.calculatedSize ?? 0;
  }

  get count(): number {
    return this.#entries?.size ?? 0;
  }
}
