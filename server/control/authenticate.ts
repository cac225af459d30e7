import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';
import { SingleFlight } from '../../pool/single-flight.ts';
import { hashApiKey } from '../../store/identifiers.ts';
import type { ApiKey, Keys } from '../../store/keys.ts';
import type { Organisations } from '../../store/organisations.ts';
import type { Projects } from '../../store/projects.ts';
import type { Operation } from './operation.ts';
import { UnknownKeys } from './unknown-keys.ts';

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
