import { LRUCache } from 'lru-cache';
import { type Collection, type Db, MongoServerError } from 'mongodb';
import { ServiceError } from '../../contract/errors.ts';
import { isDuplicateKey, retryOnDeadlock } from '../../store/writes.ts';
import type { Headers } from '../http/responses.ts';

const windowMs = 60_000;
/**
 * A window that ends later was started by a clock that is ahead. Tolerates less than another
 * window.
 */
const latestEndMs = 2 * windowMs;

/** A key's calls until the window ends. */
interface Window {
  readonly calls: number;
  readonly expire: Date;
}

/** A key's rate limit state after a call. */
interface RateLimitResult {
  /** `RateLimit-*` (IETF draft-ietf-httpapi-ratelimit-headers-06), and `Retry-After` above the limit. */
  readonly headers: Headers;
  /** Null unless the call is above the limit. */
  readonly failure: ServiceError | null;
}

/**
 * Limits the calls per minute of each valid key, counted in the store for all processes and
 * machines. While the store refuses the write, such as when its disk is full, each process counts
 * alone, because reads still work. No call succeeds while the store does not respond.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #windows: Collection<Window & { readonly _id: string }>;
  readonly #ofProcess = new LRUCache<string, Window>({
    max: 10_000,
    ttl: windowMs,
    noUpdateTTL: true,
  });

  /** @param limit calls per minute */
  constructor(db: Db, limit: number) {
    this.#limit = limit;
    this.#windows = db.collection('rateWindows');
  }

  /** Idempotent; several processes can call it at once. */
  async ensureIndexes(): Promise<void> {
    await this.#windows.createIndex({ expire: 1 }, { expireAfterSeconds: 0 });
  }

  async consume(keyId: string): Promise<RateLimitResult> {
    const { calls, expire } = await this.#count(keyId).catch((error: unknown) => {
      if (error instanceof MongoServerError) return this.#countInProcess(keyId);
      throw error;
    });
    const seconds = String(Math.max(1, Math.ceil((expire.getTime() - Date.now()) / 1_000)));
    const headers: Headers = [
      ['ratelimit-limit', String(this.#limit)],
      ['ratelimit-remaining', String(Math.max(0, this.#limit - calls))],
      ['ratelimit-reset', seconds],
    ];
    if (calls <= this.#limit) return { headers, failure: null };
    const message = `The API key has made more than ${this.#limit} calls within a minute.`;
    return {
      headers: [...headers, ['retry-after', seconds]],
      failure: new ServiceError('rate_limited', message),
    };
  }

  async #count(_id: string): Promise<Window> {
    const now = Date.now();
    const latestEnd = new Date(now + latestEndMs);
    const current = { _id, expire: { $gt: new Date(now), $lte: latestEnd } };
    const count = () =>
      this.#windows.findOneAndUpdate(current, { $inc: { calls: 1 } }, { returnDocument: 'after' });
    const counted = await retryOnDeadlock(count);
    if (counted !== null) return counted;
    const first = { calls: 1, expire: new Date(now + windowMs) };
    const isOver = [{ expire: { $lte: new Date(now) } }, { expire: { $gt: latestEnd } }];
    try {
      const over = { _id, $or: isOver };
      await retryOnDeadlock(() => this.#windows.updateOne(over, { $set: first }, { upsert: true }));
      return first;
    } catch (error) {
      // Another call has started the window meanwhile.
      if (isDuplicateKey(error)) return this.#count(_id);
      throw error;
    }
  }

  #countInProcess(keyId: string): Window {
    const { calls, expire } = this.#ofProcess.get(keyId) ?? {
      calls: 0,
      expire: new Date(Date.now() + windowMs),
    };
    const counted = { calls: calls + 1, expire };
    this.#ofProcess.set(keyId, counted);
    return counted;
  }
}
