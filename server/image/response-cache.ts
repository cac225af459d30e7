import { LRUCache } from 'lru-cache';
import type { MemoryEntry } from '../../pool/cache/image-caches.ts';
import type { Headers } from '../http/responses.ts';
import type { ProjectState } from '../project-cache.ts';
import type { RequestCounter } from '../usage/request-counts.ts';
import type { Lifetime } from './caching.ts';
import type { NamedFile } from './download.ts';

/** The headers of both possible responses to an image's repeated requests. */
type RepeatedHeaders = Readonly<Record<'whole' | 'notModified', Headers>>;

/** The headers that depend on an image's URL. */
export interface UrlHeaders {
  readonly file: NamedFile | null;
  /** The tags that CDNs purge the requested image by, even if another image replaces it. */
  readonly tags: Headers;
  /** Or ''. */
  readonly vary: string;
  /** The result of `unknownWarnings`. */
  readonly warnings: string;
}

/** A response and the state that it depends on. */
export interface CachedResponse {
  readonly project: ProjectState;
  readonly subject: RequestCounter;
  readonly entry: MemoryEntry;
  /** Null until the first repeated request, and for time-dependent headers. */
  headers: RepeatedHeaders | null;
  readonly urlHeaders: UrlHeaders;
  readonly lifetime: Lifetime & { readonly expires: number };
}

/** Some 9,000 entries of average requests. */
const maxBytes = 24 * 1024 * 1024;
/** Estimated entry size, excluding its key. */
const entryBytes = 2_560;
/** Longer requests are rare, and their entries would be large. */
const maxKeyLength = 2_048;

/**
 * Finished responses by request: a repeated hit skips parsing and hashing. The memory cache holds
 * the bodies; if it evicts an image, the entry's image is gone.
 */
export class ResponseCache {
  readonly #responses = new LRUCache<string, CachedResponse>({
    maxSize: maxBytes,
    sizeCalculation: ({ subject: { source, variant } }, requestKey) =>
      entryBytes + requestKey.length + source.length + variant.length,
  });

  get(requestKey: string, now: number): CachedResponse | undefined {
    const response = this.#responses.get(requestKey);
    if (response === undefined) return undefined;
    const { entry, project, lifetime } = response;
    const { expires, report } = lifetime;
    // The clock might have been set back.
    const isFresh = report === undefined || (report.at <= now && now < report.freshUntil);
    if (entry.image !== null && !project.stale && expires > now && isFresh) return response;
    this.#responses.delete(requestKey);
    return undefined;
  }

  set(requestKey: string, response: CachedResponse): void {
    if (requestKey.length <= maxKeyLength) this.#responses.set(requestKey, response);
  }

  get bytes(): number {
    return this.#responses.calculatedSize;
  }

  get count(): number {
    return this.#responses.size;
  }
}
