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
const maxKeyLength = 256;
/** Maximum keys, and maximum clients with unknown keys, in memory: about 8 and 2 MiB. */
const maxEntries = 8_192;
const windowMs = 60_000;
/**
 * Maximum look-ups of unknown keys per client and window: more than a client's mistakes, and little
 * load for the store.
 */
export const maxLookupsPerWindow = 120;
/** Maximum concurrent look-ups of unknown keys by all clients. */
export const maxConcurrentLookups = 128;

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
 * successful look-up, so that unknown keys do not block known keys. Counts in this process, because
 * the limits protect the store.
 */
export class Authentication {
  readonly #keys: Keys;
  readonly #organisations: Organisations;
  /** Keys that were valid at their last look-up. */
  readonly #known = new LRUCache<string, Known>({ max: maxEntries });
  /** Look-ups of unknown keys by client since the start of its window. */
  readonly #clients = new LRUCache<string, { count: number; readonly since: number }>({
    max: maxEntries,
    ttl: windowMs,
  });
  readonly #lookups = new SingleFlight<string, Known | null>();
  /** Look-ups of unknown keys in progress. */
  #running = 0;

  constructor(keys: Keys, organisations: Organisations) {
    this.#keys = keys;
    this.#organisations = organisations;
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
    const calledAt = performance.now();
    if (known !== undefined && calledAt - known.at < ttlMs) return known.credential;
    const lookUp = () => this.#lookUp(secret, hash);
    const found = await this.#lookups.run(hash, () =>
      known === undefined ? this.#limit(client, lookUp) : lookUp(),
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

  /**
   * Looks up a key that this process has not seen as valid. Counts only unknown keys.
   * @param client see `clientNetwork`
   * @throws ServiceError rate_limited
   */
  async #limit(client: string, lookUp: () => Promise<Known | null>): Promise<Known | null> {
    if (this.#running >= maxConcurrentLookups) {
      throw tooMany('Too many API keys are being looked up.', 1);
    }
    const now = performance.now();
    const known = this.#clients.get(client);
    const counter = known?.count ? known : { count: 0, since: now };
    if (counter.count >= maxLookupsPerWindow) {
      const message = `More than ${maxLookupsPerWindow} unknown API keys from this address in a minute.`;
      const seconds = Math.ceil((counter.since + windowMs - now) / 1_000);
      throw tooMany(message, Math.max(1, seconds));
    }
    if (counter.count === 0) this.#clients.set(client, counter);
    // Count before the result arrives, because a client can send many keys at once.
    this.#running += 1;
    counter.count += 1;
    let result: Known | null | undefined;
    try {
      result = await lookUp();
      return result;
    } finally {
      this.#running -= 1;
      if (result !== null) counter.count -= 1;
    }
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
    throw new ServiceError('project_forbidden', 'The API key belongs to another organisation.');
  }
}

const tooMany = (message: string, retryAfter: number): ServiceError =>
  new ServiceError('rate_limited', message, undefined, { retryAfter });
