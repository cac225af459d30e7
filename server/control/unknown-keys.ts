import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';

const windowMs = 60_000;
/** Look-ups in a window for keys that nobody has: more than anyone's mistakes, and no load for a store. */
export const lookupsPerWindow = 120;
/** Look-ups that may wait for the store at a time, from whatever addresses. */
export const lookupsAtOnce = 128;
/** Estimated bytes of an entry: a short text, a number, and the cache's own fields. */
const entryBytes = 256;
const clientsBytes = 2 * 1024 * 1024;
const unknownBytes = 1024 * 1024;

/**
 * Bounds what keys that nobody has cost: the look-ups of each client, the look-ups at a time, and the
 * memory for what was found out. Counted in this process, because the store is what is to be spared.
 */
export class UnknownKeys {
  /** Digests of keys that nobody had a moment ago. */
  readonly #unknown: LRUCache<string, true>;
  /** Look-ups by client, from the first one of a window on. */
  readonly #clients = new LRUCache<string, { count: number; readonly since: number }>({
    maxSize: clientsBytes,
    sizeCalculation: () => entryBytes,
    ttl: windowMs,
  });
  #waiting = 0;

  /** @param ttlMs how long a key that nobody had is not looked up again */
  constructor(ttlMs: number) {
    this.#unknown = new LRUCache({
      maxSize: unknownBytes,
      sizeCalculation: () => entryBytes,
      ttl: ttlMs,
    });
  }

  /** Bytes of the caches, as they are estimated. */
  get bytes(): number {
    return this.#unknown.calculatedSize + this.#clients.calculatedSize;
  }

  has(hash: string): boolean {
    return this.#unknown.has(hash);
  }

  /**
   * Looks a key up that is not known in this process. Only one that nobody has counts.
   * @param client see `clientNetwork`
   * @throws ServiceError rate_limited
   */
  async limit<T>(client: string, hash: string, lookUp: () => Promise<T | null>): Promise<T | null> {
    if (this.#waiting >= lookupsAtOnce) {
      throw tooMany('Too many API keys are being looked up.', 1);
    }
    // Counted before the result is there, so that a client cannot send all its keys at once.
    const counter = this.#counterOf(client);
    this.#waiting += 1;
    counter.count += 1;
    let result: T | null | undefined;
    try {
      const start = performance.now();
      result = await lookUp();
      // The age counts from the query: a slow store returns the state of that time.
      if (result === null) this.#unknown.set(hash, true, { start });
      return result;
    } finally {
      this.#waiting -= 1;
      if (result !== null) counter.count -= 1;
    }
  }

  #counterOf(client: string): { count: number } {
    const known = this.#clients.get(client);
    if (known === undefined) {
      const counter = { count: 0, since: performance.now() };
      this.#clients.set(client, counter);
      return counter;
    }
    if (known.count < lookupsPerWindow) return known;
    const waitMs = known.since + windowMs - performance.now();
    throw tooMany(
      `More than ${lookupsPerWindow} API keys from this address were not known within a minute.`,
      Math.max(1, Math.ceil(waitMs / 1_000)),
    );
  }
}

const tooMany = (message: string, retryAfter: number): ServiceError =>
  new ServiceError('rate_limited', message, undefined, { retryAfter });
