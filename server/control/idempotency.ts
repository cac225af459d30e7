import { createHmac, hash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { ServiceError } from '../../contract/errors.ts';
import { Keyring } from '../../store/keyring.ts';
import { withTimeout } from '../../store/outage.ts';
import { isDuplicateKey, retryOnDeadlock } from '../../store/writes.ts';
import type { Headers } from '../http/responses.ts';
import type { Operation } from './operation.ts';
import { invalidRequest } from './validation-messages.ts';

const keepSeconds = 24 * 60 * 60;
/** Maximum remembered calls per API key: they take memory in the embedded store. */
export const maxCalls = 10_000;
/** Longer than any call. Then another call can repeat one whose process was killed. */
const claimMs = 60_000;

/** A successful response, except the headers of its connection. */
export interface Content {
  readonly headers: Headers;
  /** Null for 204. */
  readonly body: string | null;
}

interface Remembered {
  /** A digest of the API key's id and the Idempotency-Key; its index makes claims unique. */
  readonly _id: string;
  readonly keyId: string;
  /** A digest of the request. */
  readonly request: string;
  readonly startedAt: Date;
  /** The sealed content; null while the call runs. */
  readonly answer: string | null;
}

interface IdempotentCall {
  /** The API key. Only who has it can read the answer, which can contain a new secret. */
  readonly secret: string;
  readonly keyId: string;
  readonly idempotencyKey: string;
  /** Everything that determines the call: method, target and body. */
  readonly request: readonly (string | Uint8Array)[];
}

/** Whether an operation creates something, so that a repetition would create another one. */
export const isCreating = ({ status }: { readonly status?: Operation['status'] | undefined }) =>
  status === 201 || status === 202;

export const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes the call safe to repeat, for example a UUID. For a day, a call with the same key and API key gets the answer of the first successful call, and creates nothing.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
} as const;

/** Remembers the answers of calls with an Idempotency-Key, for all processes and machines. */
export class Idempotency {
  readonly #calls: Collection<Remembered>;

  constructor(db: Db) {
    this.#calls = db.collection('idempotentCalls');
  }

  /** Idempotent; several processes can call it at once. */
  async ensureIndexes(): Promise<void> {
    await this.#calls.createIndex({ startedAt: 1 }, { expireAfterSeconds: keepSeconds });
    await this.#calls.createIndex({ keyId: 1 });
  }

  /**
   * Runs a call, or returns the answer of an equal earlier call. A failed call is forgotten.
   *
   * @throws ServiceError idempotency_key_reused, idempotency_key_in_use, invalid_request,
   *   rate_limited
   */
  async run(call: IdempotentCall, handle: () => Promise<Content>): Promise<Content> {
    const { secret, keyId, idempotencyKey } = call;
    if (!new RegExp(idempotencyHeader.schema.pattern).test(idempotencyKey)) {
      throw invalidRequest('Idempotency-Key must be 1 to 255 visible ASCII characters');
    }
    const digests = call.request.map((part) => hash('sha256', part)).join();
    const _id = hash('sha256', `${keyId}\n${idempotencyKey}`);
    const key = createHmac('sha256', secret).update(`answer ${_id}`).digest('base64');
    const keyring = new Keyring([{ id: 'call', secret: key }]);
    const known = await this.#claim({ _id, keyId, request: hash('sha256', digests) });
    if (known !== null) return JSON.parse(keyring.open(known, _id) ?? '') as Content;
    const save = (change: (calls: Collection<Remembered>) => Promise<unknown>) =>
      withTimeout(retryOnDeadlock(() => change(this.#calls)));
    try {
      await this.#limit(keyId);
      const content = await handle();
      const answer = keyring.seal(JSON.stringify(content), _id);
      // The call has taken effect, so it must not fail if its answer cannot be kept.
      await save((calls) => calls.updateOne({ _id }, { $set: { answer } })).catch(() => {});
      return content;
    } catch (error) {
      await save((calls) => calls.deleteMany({ _id, answer: null })).catch(() => {});
      throw error;
    }
  }

  /** Refuses a call beyond the maximum, whose claim is stored already. */
  async #limit(keyId: string): Promise<void> {
    if ((await withTimeout(this.#calls.countDocuments({ keyId }))) <= maxCalls) return;
    const message = `The API key has used ${maxCalls} Idempotency-Keys within a day.`;
    throw new ServiceError('rate_limited', message, undefined, { retryAfter: 60 * 60 });
  }

  /** Returns the answer of an equal earlier call, or null if this call must run. */
  async #claim(call: Pick<Remembered, '_id' | 'keyId' | 'request'>): Promise<string | null> {
    const { _id, request } = call;
    const startedAt = new Date();
    const claim = { ...call, startedAt, answer: null };
    try {
      await withTimeout(retryOnDeadlock(() => this.#calls.insertOne(claim)));
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const known = await withTimeout(this.#calls.findOne({ _id }));
    // It has failed or expired meanwhile.
    if (known === null) return this.#claim(call);
    if (known.request !== request) {
      const message = 'The Idempotency-Key was used for a different call within the last day.';
      throw new ServiceError('idempotency_key_reused', message);
    }
    if (known.answer !== null) return known.answer;
    const abandoned = { _id, answer: null, startedAt: { $lt: new Date(+startedAt - claimMs) } };
    const takeOver = () => this.#calls.findOneAndUpdate(abandoned, { $set: { startedAt } });
    if ((await withTimeout(retryOnDeadlock(takeOver))) !== null) return null;
    const message = 'The first call with this Idempotency-Key has not ended yet.';
    throw new ServiceError('idempotency_key_in_use', message, undefined, { retryAfter: 1 });
  }
}
