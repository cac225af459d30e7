import { LRUCache } from 'lru-cache';
import type { MemoryEntry } from '../../pool/cache/memory.ts';
import type { Headers } from '../http/request.ts';
import type { ProjectState } from '../project-cache.ts';

/** A response, and what decides whether it is still valid. */
export interface CachedResponse {
  readonly project: ProjectState;
  readonly entry: MemoryEntry;
  readonly headers: Headers;
  /** See `imageHeaders`. */
  readonly download: string | null;
  /** Until when a signed URL may be used, Unix ms; infinite for others. */
  readonly expires: number;
}

/** Some 16,000 entries of average requests. */
const maxBytes = 24 * 1024 * 1024;
/** Estimated size of an entry besides its key: the response's headers and the cache's own fields. */
const entryBytes = 1_536;
/** Longer requests are rare, and their entries would be large. */
const maxKeyLength = 2_048;

/**
 * A map from requests to finished responses, so that a repeated hit skips the parsing of its URL and hashing.
 * It holds no bodies: the memory cache does, and an evicted entry there has no image any more.
 */
export class ResponseCache {
  readonly #responses = new LRUCache<string, CachedResponse>({
    maxSize: maxBytes,
    sizeCalculation: (_, requestKey) => entryBytes + requestKey.length,
  });

  get(requestKey: string, now: number): CachedResponse | undefined {
    const response = this.#responses.get(requestKey);
    if (response === undefined) return undefined;
    const { entry, project, expires } = response;
    if (entry.image !== null && !project.stale && expires > now) return response;
    this.#responses.delete(requestKey);
    return undefined;
  }

  set(requestKey: string, response: CachedResponse): void {
    if (requestKey.length <= maxKeyLength) this.#responses.set(requestKey, response);
  }

  /** Bytes of the entries, as they are estimated. */
  get bytes(): number {
    return this.#responses.calculatedSize;
  }

  get count(): number {
    return this.#responses.size;
  }
}
