import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';
import { SingleFlight } from '../../pool/single-flight.ts';
import { hashApiKey } from '../../store/identifiers.ts';
import type { ApiKey, Keys } from '../../store/keys.ts';
import type { Organisations } from '../../store/organisations.ts';
import type { Projects } from '../../store/projects.ts';
import type { Operation } from './operations.ts';

/** A key that may be used now, and whether its organisation may use the product. */
export interface Credential {
  readonly key: ApiKey;
  readonly productAccess: boolean;
}

/**
 * How long a look-up counts: long enough to spare the store a busy client's every call, short
 * enough for a revocation to hold everywhere within two seconds.
 */
const rememberMs = 1_000;
const maxRemembered = 10_000;
const maxKeyLength = 256;

/** The key of a request: `Authorization` wins over `X-Service-Api-Key` (spec part 5). */
export function readKey(authorization: string, serviceApiKey: string): string {
  if (authorization === '') {
    if (serviceApiKey !== '') return serviceApiKey;
    throw new ServiceError('api_key_missing', 'The request has no API key.');
  }
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  throw new ServiceError('api_key_invalid', 'The Authorization header holds no bearer token.');
}

/** Knows who calls, by the keys and organisations of the store. */
export class Authentication {
  readonly #keys: Keys;
  readonly #organisations: Organisations;
  readonly #known: LRUCache<string, { readonly credential: Credential | null }>;
  readonly #lookups = new SingleFlight<string, Credential | null>();

  constructor(keys: Keys, organisations: Organisations) {
    this.#keys = keys;
    this.#organisations = organisations;
    this.#known = new LRUCache({ max: maxRemembered, ttl: rememberMs });
  }

  /**
   * @throws ServiceError api_key_missing, api_key_invalid; the driver's error when the store is away
   */
  async authenticate(authorization: string, serviceApiKey: string): Promise<Credential> {
    const secret = readKey(authorization, serviceApiKey);
    const credential = secret.length > maxKeyLength ? null : await this.#find(secret);
    if (credential === null) {
      throw new ServiceError('api_key_invalid', 'The API key is not known or has been revoked.');
    }
    return credential;
  }

  async #find(secret: string): Promise<Credential | null> {
    const hash = hashApiKey(secret);
    const known = this.#known.get(hash);
    if (known !== undefined) return known.credential;
    return this.#lookups.run(hash, async () => {
      // What a slow store answers was true when it was asked.
      const start = performance.now();
      const credential = await this.#load(secret, hash);
      this.#known.set(hash, { credential }, { start });
      return credential;
    });
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
 * Whether a key may do an operation on a project, which need not exist.
 * @throws ServiceError project_forbidden, write_access_required
 */
export async function authorise(
  key: ApiKey,
  operation: Operation,
  projectId: string | null,
  projects: Pick<Projects, 'organisationOf'>,
): Promise<void> {
  // Whether or not that project exists, so that a key learns nothing about others.
  if (key.projectId !== null && projectId !== null && key.projectId !== projectId) {
    throw new ServiceError('project_forbidden', 'The API key is for another project.');
  }
  if (operation.keys === 'all' && key.projectId !== null) {
    throw new ServiceError('project_forbidden', 'This operation needs a key for all projects.');
  }
  if (operation.access === 'write' && key.access !== 'write') {
    throw new ServiceError('write_access_required', 'The API key may only read.');
  }
  if (key.projectId !== null || key.allOrganisations || projectId === null) return;
  const orgId = await projects.organisationOf(projectId);
  if (orgId !== null && orgId !== key.orgId) {
    throw new ServiceError(
      'project_forbidden',
      'The API key is for the projects of another organisation.',
    );
  }
}
