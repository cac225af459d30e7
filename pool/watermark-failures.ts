import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';

/**
 * Age from which a failure is checked again, in ms: as long as failures of other sources are cached. The
 * check runs in the background, so only the first request for a watermark waits for a slow origin.
 */
const recheckAfterMs = 5_000;
/** Age at which a failure is deleted that no request asked for, in ms. */
const forgetAfterMs = 60_000;
const maxBytes = 4 * 1024 * 1024;
/** Estimated size of an entry besides its key: an error with its stack and its cause. */
const entryBytes = 4_096;

interface Failure {
  readonly error: ServiceError;
  /** Clock of the cache, in ms. */
  readonly at: number;
  checking: boolean;
}

/** All spellings of a URL have the same key. */
const keyOf = (url: URL | string): string => canonicalUrl(new URL(url)).href;

/** A cache of the watermarks that could not be used. */
export class WatermarkFailures {
  readonly #check: (url: URL) => Promise<void>;
  readonly #now: () => number;
  readonly #failures: LRUCache<string, Failure>;

  /**
   * @param check fetches and decodes a watermark; rejects when it cannot be used
   * @param now clock in ms; must start above 0, and only differences count
   */
  constructor(check: (url: URL) => Promise<void>, now = () => performance.now()) {
    this.#check = check;
    this.#now = now;
    this.#failures = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (_, url) => entryBytes + 2 * url.length,
      ttl: forgetAfterMs,
      perf: { now },
      ttlResolution: 0,
    });
  }

  /** @throws ServiceError the cached failure of a watermark, which may start a check */
  requireUsable(url: string): void {
    const failure = this.#failures.get(keyOf(url));
    if (failure === undefined) return;
    if (!failure.checking && this.#now() - failure.at >= recheckAfterMs)
      void this.#recheck(url, failure);
    throw failure.error;
  }

  /** @param error as from `ofWatermark` */
  set(url: string, error: ServiceError): void {
    this.#failures.set(keyOf(url), { error, at: this.#now(), checking: false });
  }

  delete(url: URL | string): void {
    this.#failures.delete(keyOf(url));
  }

  async #recheck(url: string, failure: Failure): Promise<void> {
    failure.checking = true;
    try {
      await this.#check(new URL(url));
      this.delete(url);
    } catch (error) {
      // `overloaded` is not a failure of the watermark.
      const isOwn = error instanceof ServiceError && error.code !== 'overloaded';
      this.set(url, isOwn ? error.ofWatermark() : failure.error);
    }
  }
}
