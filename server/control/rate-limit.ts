import {
  type Collection,
  type Db,
  type Filter,
  type FindOneAndUpdateOptions,
  MongoServerError,
  type UpdateFilter,
} from 'mongodb';
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../contract/errors.ts';
import { retryOnDeadlock } from '../../store/writes.ts';
import type { Headers } from '../http/responses.ts';

const windowSeconds = 60;
/**
 * A window that ends later was started by a clock that is ahead. Tolerates less than another
 * window.
 */
const latestEndMs = 2 * windowSeconds * 1_000;
const collectionName = 'rateWindows';

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
  readonly #db: Db;
  readonly #limit: number;
  readonly #limiter: RateLimiterMongo;
  readonly #ofProcess: RateLimiterMemory;

  /** @param limit calls per minute */
  constructor(db: Db, limit: number) {
    this.#db = db;
    this.#limit = limit;
    const options = { keyPrefix: 'key', points: limit, duration: windowSeconds };
    this.#limiter = new RateLimiterMongo({
      ...options,
      storeClient: { collection: (name: string) => new WindowCollection(db, name) },
      tableName: collectionName,
      disableIndexesCreation: true,
    });
    this.#ofProcess = new RateLimiterMemory(options);
  }

  /** Idempotent; several processes can call it at once. */
  async ensureIndexes(): Promise<void> {
    await this.#db.collection(collectionName).createIndex({ expire: 1 }, { expireAfterSeconds: 0 });
  }

  async consume(keyId: string): Promise<RateLimitResult> {
    const state = await this.#count(keyId);
    const headers = this.#headers(state);
    if (state.consumedPoints <= this.#limit) return { headers, failure: null };
    const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
    return {
      headers: [...headers, ['retry-after', String(seconds)]],
      failure: new ServiceError(
        'rate_limited',
        `The API key has made more than ${this.#limit} calls within a minute.`,
      ),
    };
  }

  async #count(keyId: string): Promise<RateLimiterRes> {
    try {
      const state = await this.#limiter.consume(keyId).catch(requireState);
      if (state.msBeforeNext <= latestEndMs) return state;
      await this.#endWindow(this.#limiter.getKey(keyId));
      return await this.#limiter.consume(keyId).catch(requireState);
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error;
      return this.#ofProcess.consume(keyId).catch(requireState);
    }
  }

  /** Ends a window in the future, which would otherwise last until then. */
  async #endWindow(key: string): Promise<void> {
    const latestEnd = new Date(Date.now() + latestEndMs);
    await this.#db
      .collection<Window>(collectionName)
      .updateOne({ _id: key, expire: { $gt: latestEnd } }, { $set: { expire: new Date(0) } });
  }

  #headers({ remainingPoints, msBeforeNext }: RateLimiterRes): Headers {
    return [
      ['ratelimit-limit', String(this.#limit)],
      ['ratelimit-remaining', String(Math.max(0, remainingPoints))],
      ['ratelimit-reset', String(Math.max(0, Math.ceil(msBeforeNext / 1_000)))],
    ];
  }
}

/** Returns the state of a refused call, which the limiter rejects with. */
function requireState(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal;
  throw refusal;
}

interface Window {
  readonly _id: string;
  readonly expire: Date;
}

/**
 * The limiter's collection, with the key as `_id`. The limiter would create a unique index, which
 * makes concurrent upserts of a new key deadlock on FerretDB for a second each. The limiter handles
 * duplicate keys, which have the code 11000.
 */
class WindowCollection {
  readonly #collection: Collection<Window>;

  constructor(db: Db, name: string) {
    this.#collection = db.collection(name);
  }

  findOneAndUpdate(
    filter: Filter<Window> & { readonly key: string },
    update: UpdateFilter<Window>,
    options: FindOneAndUpdateOptions,
  ): Promise<unknown> {
    return retryOnDeadlock(() =>
      this.#collection.findOneAndUpdate({ ...filter, _id: filter.key }, update, options),
    );
  }
}
