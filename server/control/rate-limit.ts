import type { Db } from 'mongodb';
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../contract/errors.ts';
import type { Headers } from '../http/request.ts';

const windowSeconds = 60;

/** The state of a key's rate limit after a call. */
export interface RateLimitResult {
  /** `RateLimit-*` (IETF draft-ietf-httpapi-ratelimit-headers-06), and `Retry-After` above the limit. */
  readonly headers: Headers;
  /** Set when the call is above the limit. */
  readonly failure: ServiceError | null;
}

/**
 * Limits the calls per minute of each key, counted in the store and so over all processes and machines.
 * There is no local fallback: while the store is unavailable no call could succeed anyway.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #limiter: RateLimiterMongo;

  /** @param limit calls per minute */
  constructor(db: Db, limit: number) {
    this.#limit = limit;
    this.#limiter = new RateLimiterMongo({
      storeClient: db,
      tableName: 'rateLimits',
      disableIndexesCreation: true,
      keyPrefix: 'key',
      points: limit,
      duration: windowSeconds,
    });
  }

  /** May be repeated, also by several processes at once. */
  async ensureIndexes(): Promise<void> {
    await this.#limiter.createIndexes();
  }

  async consume(keyId: string): Promise<RateLimitResult> {
    try {
      return { headers: this.#headers(await this.#limiter.consume(keyId)), failure: null };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
      return {
        headers: [...this.#headers(refusal), ['retry-after', String(seconds)]],
        failure: new ServiceError(
          'rate_limited',
          `The API key has made more than ${this.#limit} calls within a minute.`,
        ),
      };
    }
  }

  #headers({ remainingPoints, msBeforeNext }: RateLimiterRes): Headers {
    return [
      ['ratelimit-limit', String(this.#limit)],
      ['ratelimit-remaining', String(Math.max(0, remainingPoints))],
      ['ratelimit-reset', String(Math.max(0, Math.ceil(msBeforeNext / 1_000)))],
    ];
  }
}
