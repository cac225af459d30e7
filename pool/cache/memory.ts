import { LRUCache } from 'lru-cache';
import type { Image } from '../image.ts';

/**
 * A place in the memory cache. Whoever keeps one sees by `image` whether it still holds: the cache
 * sets that to null when it lets go, so that a reference from elsewhere never keeps evicted bytes.
 */
export interface MemoryEntry {
  readonly key: string;
  image: Image | null;
  /** When a hit was last counted, ms of the cache's clock. */
  touchedAt: number;
}

/** Map nodes, headers and strings around a body, roughly; it keeps tiny images honest. */
const overheadBytes = 1_024;

/** A hit counts for recency at most this often, so that a hot image costs nothing to keep. */
const touchEveryMs = 1_000;

/** Finished images in this process, least recently used out first, bounded by bytes. */
export class MemoryCache {
  readonly #entries: LRUCache<string, MemoryEntry> | null;
  readonly #onHit: (key: string) => void;
  readonly maxBytes: number;

  /** @param onHit learns of hits, each key at most once a second */
  constructor(maxBytes: number, onHit: (key: string) => void) {
    this.maxBytes = maxBytes;
    this.#onHit = onHit;
    this.#entries =
      maxBytes === 0
        ? null
        : new LRUCache({
            maxSize: maxBytes,
            sizeCalculation: (entry) => (entry.image?.body.byteLength ?? 0) + overheadBytes,
            dispose: (entry) => {
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

  /** Counts a hit on an entry that the caller kept. */
  touch(entry: MemoryEntry, now: number): void {
    if (now - entry.touchedAt < touchEveryMs) return;
    entry.touchedAt = now;
    this.#entries?.get(entry.key);
    this.#onHit(entry.key);
  }

  /** Null when the image is too big to be kept, or the cache is off. */
  set(key: string, image: Image, now: number): MemoryEntry | null {
    const entry: MemoryEntry = { key, image, touchedAt: now };
    this.#entries?.set(key, entry);
    return this.#entries?.has(key) ? entry : null;
  }

  get bytes(): number {
    return this.#entries?.calculatedSize ?? 0;
  }

  get count(): number {
    return this.#entries?.size ?? 0;
  }
}
