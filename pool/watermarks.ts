import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { canonical } from './source/fetch.ts';

/**
 * How long a failure is used without asking again, in ms: as long as that of any other source. After it
 * the next request starts a check, and is answered by the failure until the check succeeds, so that
 * only the first request for a watermark ever waits for a source that does not answer.
 */
const recheckAfterMs = 5_000;
/** How long a failure is kept that no request asks for: then the next request fetches as usual. */
const forgetAfterMs = 60_000;
const failureBytes = 4 * 1024 * 1024;
/** Estimated size of an entry besides its key: an error with its stack and its cause. */
const entryBytes = 4_096;

interface Failed {
  readonly error: ServiceError;
  /** Clock of the cache, in ms. */
  readonly at: number;
  checking: boolean;
}

export interface WatermarksOptions {
  /** Fetches and decodes a watermark; rejects when it cannot be used. */
  readonly check: (url: URL) => Promise<void>;
  /** Clock in ms; must start above 0, and only differences count. */
  readonly now?: () => number;
}

/** The same for all spellings of a URL. */
const keyOf = (url: URL | string): string => canonical(new URL(url)).href;

/** Remembers the watermarks that could not be used. */
export class Watermarks {
  readonly #check: WatermarksOptions['check'];
  readonly #now: () => number;
  readonly #failures: LRUCache<string, Failed>;

  constructor({ check, now = () => performance.now() }: WatermarksOptions) {
    this.#check = check;
    this.#now = now;
    this.#failures = new LRUCache({
      maxSize: failureBytes,
      sizeCalculation: (_, url) => entryBytes + 2 * url.length,
      ttl: forgetAfterMs,
      perf: { now },
      ttlResolution: 0,
    });
  }

  /** @throws ServiceError the failure of a watermark that could not be used a short while ago */
  requireUsable(url: URL | string): void {
    const failed = this.#failures.get(keyOf(url));
    if (failed === undefined) return;
    if (!failed.checking && this.#now() - failed.at >= recheckAfterMs)
      void this.#recheck(url, failed);
    throw failed.error;
  }

  /** @param error of the watermark, as `ofWatermark` makes it */
  failed(url: URL | string, error: ServiceError): void {
    this.#failures.set(keyOf(url), { error, at: this.#now(), checking: false });
  }

  works(url: URL | string): void {
    this.#failures.delete(keyOf(url));
  }

  async #recheck(url: URL | string, failed: Failed): Promise<void> {
    failed.checking = true;
    try {
      await this.#check(new URL(url));
      this.works(url);
    } catch (error) {
      // Not the watermark's failure when the service is too busy to look at it.
      const its = error instanceof ServiceError && error.code !== 'overloaded';
      this.failed(url, its ? error.ofWatermark() : failed.error);
    }
  }
}
