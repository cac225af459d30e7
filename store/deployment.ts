import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { newOrganisationId } from './identifiers.ts';
import { withTimeout } from './outage.ts';
import { findOrInsert } from './writes.ts';

/** The only document of its collection. */
export interface DeploymentRecord {
  readonly _id: 'deployment';
  /** The default organisation for projects and keys. */
  readonly defaultOrganisation: string;
  /**
   * Signs the tokens of background requests (background-token.ts), and a key derived from it the
   * objects of the shared cache (pool/cache/shared-cache.ts).
   */
  readonly backgroundSecret: string;
  /** When a worker last claimed jobs, by the store's clock; missing before the first claim. */
  readonly workerSeenAt?: Date;
  /**
   * When a service last used this store, by the store's clock; only in MongoDB, which has no lock.
   */
  readonly serviceSeenAt?: Date;
}

/** Created on first use. */
export function findDeployment(db: Db): Promise<DeploymentRecord> {
  return findOrInsert(db.collection<DeploymentRecord>('deployments'), 'deployment', {
    defaultOrganisation: newOrganisationId(),
    backgroundSecret: randomBytes(32).toString('base64url'),
  });
}

/** The secret of the deployment as a process uses it, which needs the store once. */
export class DeploymentSecret {
  readonly #db: Db;
  readonly #storeAvailable: () => boolean;
  #secret: Promise<string> | null = null;

  constructor(db: Db, storeAvailable: () => boolean) {
    this.#db = db;
    this.#storeAvailable = storeAvailable;
  }

  /** Returns null until loaded. No image waits for an unavailable store. */
  async find(): Promise<string | null> {
    if (this.#secret === null && !this.#storeAvailable()) return null;
    try {
      this.#secret ??= withTimeout(findDeployment(this.#db)).then(
        ({ backgroundSecret }) => backgroundSecret,
      );
      return await this.#secret;
    } catch {
      this.#secret = null;
      return null;
    }
  }
}
