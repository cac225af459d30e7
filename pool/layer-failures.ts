import { LRUCache } from 'lru-cache';
import type { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';
import { type Input, isInputFailure } from './inputs.ts';
import type { FindLoader } from './source/source-loader.ts';

/**
 * Age in ms when a failure is checked again: as long as other sources' failures are cached. The
 * check runs in the background, so only a layer's first request waits for a slow origin.
 */
const recheckAfterMs = 5_000;
/** Age in ms when an unrequested failure is deleted. */
const forgetAfterMs = 60_000;
const maxBytes = 4 * 1024 * 1024;
/** An entry's estimated size in addition to its key: an error with its stack and cause. */
const entryBytes = 4_096;

interface Failure {
  readonly error: ServiceError;
  /** Clock of the cache, in ms. */
  readonly at: number;
  checking: boolean;
}

/** The image or font of a layer, as a project fetches it. */
export interface LayerInput {
  readonly project: string;
  readonly input: Input;
  /** Default: plain HTTP requests. */
  readonly findLoader?: FindLoader | undefined;
}

/** Returns the same key for all spellings of a URL. */
function toKey({ project, input, findLoader }: LayerInput): string {
  const canonical = canonicalUrl(input.url);
  const identity = findLoader?.(canonical)?.identity ?? '';
  return `${project} ${input.isFont} ${identity} ${canonical.href}`;
}

/** Caches layers that were unusable. */
export class LayerFailures {
  readonly #check: (layer: LayerInput) => Promise<void>;
  readonly #now: () => number;
  readonly #failures: LRUCache<string, Failure>;

  /**
   * @param check fetches and decodes a layer; rejects if it is unusable
   * @param now clock in ms; must start above 0, and only differences count
   */
  constructor(check: (layer: LayerInput) => Promise<void>, now = () => performance.now()) {
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

  /** Returns the layer's cached failure, or null. Can start a check of it. */
  find(layer: LayerInput): ServiceError | null {
    const failure = this.#failures.get(toKey(layer));
    if (failure === undefined) return null;
    if (!failure.checking && this.#now() - failure.at >= recheckAfterMs)
      void this.#recheck(layer, failure);
    return failure.error;
  }

  set(layer: LayerInput, error: ServiceError): void {
    this.#failures.set(toKey(layer), { error, at: this.#now(), checking: false });
  }

  delete(layer: LayerInput): void {
    this.#failures.delete(toKey(layer));
  }

  async #recheck(layer: LayerInput, failure: Failure): Promise<void> {
    failure.checking = true;
    const error = await this.#check(layer).then(
      () => null,
      (error: unknown) => (isInputFailure(error) ? error : failure.error),
    );
    // A request's failure or another check's success, which is newer, has replaced it.
    if (this.#failures.peek(toKey(layer)) !== failure) return;
    if (error === null) this.delete(layer);
    else this.set(layer, error);
  }
}
