import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';
import type { OriginOf } from './source/origin.ts';

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

/** A watermark, or the image or font of a layer, and how it is fetched for a project. */
export interface WatermarkSource {
  readonly url: URL;
  /** Default: plain HTTP requests. */
  readonly originOf?: OriginOf | undefined;
  /** For a layer: the project, and the hosts that it allows. Default: every host. */
  readonly allowed?: { readonly project: string; readonly isAllowed: (host: string) => boolean };
  readonly isFont?: boolean;
}

/** All spellings of a URL have the same key. */
function keyOf({ url, originOf, allowed, isFont = false }: WatermarkSource): string {
  const canonical = canonicalUrl(url);
  const identity = originOf?.(canonical)?.identity ?? '';
  return `${canonical.href} ${identity} ${allowed?.project ?? ''} ${isFont}`;
}

/** A cache of the watermarks and layers that could not be used. */
export class WatermarkFailures {
  readonly #check: (watermark: WatermarkSource) => Promise<void>;
  readonly #now: () => number;
  readonly #failures: LRUCache<string, Failure>;

  /**
   * @param check fetches and decodes a watermark; rejects when it cannot be used
   * @param now clock in ms; must start above 0, and only differences count
   */
  constructor(check: (watermark: WatermarkSource) => Promise<void>, now = () => performance.now()) {
    this.#check = check;
    this.#now = now;
    this.#failures = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (_, key) => entryBytes + 2 * key.length,
      ttl: forgetAfterMs,
      perf: { now },
      ttlResolution: 0,
    });
  }

  /** @throws ServiceError the cached failure of a watermark, which may start a check */
  requireUsable(watermark: WatermarkSource): void {
    const failure = this.#failures.get(keyOf(watermark));
    if (failure === undefined) return;
    if (!failure.checking && this.#now() - failure.at >= recheckAfterMs)
      void this.#recheck(watermark, failure);
    throw failure.error;
  }

  /** @param error as from `ofWatermark` */
  set(watermark: WatermarkSource, error: ServiceError): void {
    this.#failures.set(keyOf(watermark), { error, at: this.#now(), checking: false });
  }

  delete(watermark: WatermarkSource): void {
    this.#failures.delete(keyOf(watermark));
  }

  async #recheck(watermark: WatermarkSource, failure: Failure): Promise<void> {
    failure.checking = true;
    try {
      await this.#check(watermark);
      this.delete(watermark);
    } catch (error) {
      // `overloaded` is not a failure of the watermark.
      const isOwn = error instanceof ServiceError && error.code !== 'overloaded';
      this.set(watermark, isOwn ? error.ofWatermark() : failure.error);
    }
  }
}
