import type { Db } from 'mongodb';
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../contract/errors.ts';
import type { Headers } from '../http/request.ts';

const windowSeconds = 60;

/** What a call leaves of a key's allowance. */
export interface Allowance {
  /** `RateLimit-*` (IETF draft-ietf-httpapi-ratelimit-headers-06), and `Retry-After` beyond it. */
  readonly headers: Headers;
  /** Set when the call is beyond it. */
  readonly failure: ServiceError | null;
}

/**
 * Calls a minute for each key, counted in the store and so over all processes and machines. While
 * the store is away no call could be done anyway, so nothing else counts then.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #limiter: RateLimiterMongo;

  /** @param limit calls a minute */
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

  /** Safe to repeat and for several processes at once. */
  async ensureIndexes(): Promise<void> {
    await this.#limiter.createIndexes();
  }

  async consume(keyId: string): Promise<Allowance> {
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
