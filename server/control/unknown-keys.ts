import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';

const windowMs = 60_000;
/**
 * Maximum look-ups of unknown keys per window: more than a client's mistakes, and little load for
 * the store.
 */
export const maxLookupsPerWindow = 120;
/** Maximum concurrent look-ups of all clients. */
export const maxConcurrentLookups = 128;
/** Estimated bytes of an entry. */
const entryBytes = 256;
const clientsBytes = 2 * 1024 * 1024;
const unknownBytes = 1024 * 1024;

/**
 * Limits the cost of unknown keys: look-ups per client, concurrent look-ups, and memory. Counts in
 * this process, because the limits protect the store.
 */
export class UnknownKeys {
  /** Digests of keys that the store recently lacked. */
  readonly #unknown: LRUCache<string, true>;
  /** Look-ups by client since the start of its window. */
  readonly #clients = new LRUCache<string, { count: number; readonly since: number }>({
    maxSize: clientsBytes,
    sizeCalculation: () => entryBytes,
    ttl: windowMs,
  });
  #lookups = 0;

  /** @param ttlMs validity of a look-up */
  constructor(ttlMs: number) {
    this.#unknown = new LRUCache({
      maxSize: unknownBytes,
      sizeCalculation: () => entryBytes,
      ttl: ttlMs,
    });
  }

  /** Estimated bytes of the caches. */
  get bytes(): number {
    return this.#unknown.calculatedSize + this.#clients.calculatedSize;
  }

  has(hash: string): boolean {
    return this.#unknown.has(hash);
  }

  /**
   * Looks up a key that this process has not seen as valid. Counts only unknown keys.
   * @param client see `clientNetwork`
   * @throws ServiceError rate_limited
   */
  async limit<T>(client: string, hash: string, lookUp: () => Promise<T | null>): Promise<T | null> {
    if (this.#lookups >= maxConcurrentLookups) {
      throw tooMany('Too many API keys are being looked up.', 1);
    }
    // Count before the result arrives, because a client can send many keys at once.
    const counter = this.#getCounter(client);
    this.#lookups += 1;
    counter.count += 1;
    let result: T | null | undefined;
    try {
      const start = performance.now();
      result = await lookUp();
      // Use the start of the query: a slow store returns an old state.
      if (result === null) this.#unknown.set(hash, true, { start });
      return result;
    } finally {
      this.#lookups -= 1;
      if (result !== null) counter.count -= 1;
    }
  }

  #getCounter(client: string): { count: number } {
    const known = this.#clients.get(client);
    if (known === undefined) {
      const counter = { count: 0, since: performance.now() };
      this.#clients.set(client, counter);
      return counter;
    }
    if (known.count < maxLookupsPerWindow) return known;
    const waitMs = known.since + windowMs - performance.now();
    throw tooMany(
      `More than ${maxLookupsPerWindow} API keys from this address were not known within a minute.`,
      Math.max(1, Math.ceil(waitMs / 1_000)),
    );
  }
}

const tooMany = (message: string, retryAfter: number): ServiceError =>
  new ServiceError('rate_limited', message, undefined, { retryAfter });
