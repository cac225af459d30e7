import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';
import { SingleFlight } from '../../pool/single-flight.ts';
import { hashApiKey } from '../../store/identifiers.ts';
import type { ApiKey, Keys } from '../../store/keys.ts';
import type { Organisations } from '../../store/organisations.ts';
import type { Projects } from '../../store/projects.ts';
import type { Operation } from './operation.ts';

/** A valid key, and whether its organisation has product access. */
export interface Credential {
  readonly key: ApiKey;
  readonly productAccess: boolean;
}

/**
 * How long a look-up is valid: saves busy clients a query per call, and a revocation takes effect
 * in all processes within two seconds.
 */
const ttlMs = 1_000;
const knownBytes = 8 * 1024 * 1024;
/** Estimated size of an entry. */
const entryBytes = 1_024;
const maxKeyLength = 256;

/** Returns a request's API key: `Authorization` takes precedence over `X-Service-Api-Key`. */
export function readKey(authorization: string, serviceApiKey: string): string {
  if (authorization === '') {
    if (serviceApiKey !== '') return serviceApiKey;
    throw new ServiceError('api_key_missing', 'The request has no API key.');
  }
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  const message = 'The Authorization header has no bearer token.';
  const hint =
    'Write "Bearer" and a space before the API key, or send the key in X-Service-Api-Key.';
  throw new ServiceError('api_key_invalid', message, undefined, { hint });
}

interface Known {
  readonly credential: Credential;
  /** Start of the query, by the clock of `performance`. */
  readonly at: number;
}

/**
 * Finds a request's credential in the store. Limits look-ups only for keys without an earlier
 * successful look-up, so that unknown keys do not block known keys.
 */
export class Authentication {
  readonly #keys: Keys;
  readonly #organisations: Organisations;
  /** Keys that were valid at their last look-up; unknown keys do not evict them. */
  readonly #known: LRUCache<string, Known>;
  readonly #unknown = new UnknownKeys(ttlMs);
  readonly #lookups = new SingleFlight<string, Known | null>();

  constructor(keys: Keys, organisations: Organisations) {
    this.#keys = keys;
    this.#organisations = organisations;
    this.#known = new LRUCache({ maxSize: knownBytes, sizeCalculation: () => entryBytes });
  }

  /** Estimated bytes of the cached look-ups. */
  get bytes(): { readonly known: number; readonly unknown: number } {
    return { known: this.#known.calculatedSize, unknown: this.#unknown.bytes };
  }

  /**
   * @param secret the API key
   * @param client the client's network (`clientNetwork`), which limits its unknown keys
   * @throws ServiceError api_key_invalid, rate_limited; the driver's error if the store is
   *   unavailable
   */
  async authenticate(secret: string, client: string): Promise<Credential> {
    const credential = secret.length > maxKeyLength ? null : await this.#find(secret, client);
    if (credential === null) {
      throw new ServiceError('api_key_invalid', 'The API key is unknown or revoked.');
    }
    return credential;
  }

  async #find(secret: string, client: string): Promise<Credential | null> {
    const hash = hashApiKey(secret);
    const known = this.#known.get(hash);
    if (known !== undefined && performance.now() - known.at < ttlMs) return known.credential;
    if (this.#unknown.has(hash)) return null;
    const calledAt = performance.now();
    const lookUp = () => this.#lookUp(secret, hash);
    const found = await this.#lookups.run(hash, () =>
      known === undefined ? this.#unknown.limit(client, hash, lookUp) : lookUp(),
    );
    // With a slow store, this call can have joined a look-up of an older state.
    const isOutdated = found !== null && calledAt - found.at >= ttlMs;
    return isOutdated ? this.#find(secret, client) : (found?.credential ?? null);
  }

  async #lookUp(secret: string, hash: string): Promise<Known | null> {
    // Use the start of the query: a slow store returns an old state.
    const at = performance.now();
    const credential = await this.#load(secret, hash);
    const known = credential && { credential, at };
    if (known === null) this.#known.delete(hash);
    else this.#known.set(hash, known);
    return known;
  }

  async #load(secret: string, hash: string): Promise<Credential | null> {
    const key = await this.#keys.findBySecret(secret);
    if (key === null || key.revokedAt !== null) return null;
    if (!timingSafeEqual(Buffer.from(key.hash), Buffer.from(hash))) return null;
    const organisation = await this.#organisations.find(key.orgId);
    return { key, productAccess: organisation?.productAccess ?? false };
  }
}

/** @throws ServiceError product_access_required */
export function requireProductAccess({ productAccess }: Credential): void {
  if (productAccess) return;
  throw new ServiceError(
    'product_access_required',
    "The API key's organisation has no active product access.",
  );
}

/**
 * Checks that a key permits an operation on a project, which need not exist.
 * @throws ServiceError project_forbidden, write_access_required, root_key_required
 */
export async function authorise(
  key: ApiKey,
  { method, scope }: Operation,
  projectId: string | null,
  projects: Pick<Projects, 'findOrganisation'>,
): Promise<void> {
  // This includes missing projects: a key must not reveal which other projects exist.
  if (key.projectId !== null && projectId !== null && key.projectId !== projectId) {
    throw new ServiceError('project_forbidden', 'The API key is for another project.');
  }
  if (scope === 'all-projects' && key.projectId !== null) {
    throw new ServiceError('project_forbidden', 'This operation needs a key for all projects.');
  }
  if (method !== 'GET' && key.access !== 'write') {
    throw new ServiceError('write_access_required', 'The API key is read-only.');
  }
  if (scope === 'root' && !key.allOrganisations) {
    throw new ServiceError('root_key_required', 'Only a root key can change this.');
  }
  if (key.projectId !== null || key.allOrganisations || projectId === null) return;
  const orgId = await projects.findOrganisation(projectId);
  if (orgId !== null && orgId !== key.orgId) {
    throw new ServiceError(
      'project_forbidden',
      'The API key is for the projects of another organisation.',
    );
  }
}

const windowMs = 60_000;
/**
 * Maximum look-ups of unknown keys per window: more than a client's mistakes, and little load for
 * the store.
 */
export const maxLookupsPerWindow = 120;
/** Maximum concurrent look-ups of all clients. */
export const maxConcurrentLookups = 128;
/** Estimated bytes of a client's counter, and of an unknown key. */
const smallEntryBytes = 256;
const clientsBytes = 2 * 1024 * 1024;
const unknownBytes = 1024 * 1024;

/**
 * Limits the cost of unknown keys: look-ups per client, concurrent look-ups, and memory. Counts in
 * this process, because the limits protect the store.
 */
class UnknownKeys {
  /** Digests of keys that the store recently lacked. */
  readonly #unknown: LRUCache<string, true>;
  /** Look-ups by client since the start of its window. */
  readonly #clients = new LRUCache<string, { count: number; readonly since: number }>({
    maxSize: clientsBytes,
    sizeCalculation: () => smallEntryBytes,
    ttl: windowMs,
  });
  #lookups = 0;

  /** @param ttlMs validity of a look-up */
  constructor(ttlMs: number) {
    this.#unknown = new LRUCache({
      maxSize: unknownBytes,
      sizeCalculation: () => smallEntryBytes,
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
      `More than ${maxLookupsPerWindow} unknown API keys from this address in a minute.`,
      Math.max(1, Math.ceil(waitMs / 1_000)),
    );
  }
}

const tooMany = (message: string, retryAfter: number): ServiceError =>
  new ServiceError('rate_limited', message, undefined, { retryAfter });
