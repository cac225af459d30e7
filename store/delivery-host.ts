import type { Collection, Db } from 'mongodb';
import { StoreUnavailable, withTimeout } from './outage.ts';
import { isDuplicateKey, retryOnDeadlock } from './writes.ts';

/** A host that serves a project's images, as stored in the project. */
export interface DeliveryHost {
  /** In canonical form. */
  readonly host: string;
  /** The URL below which its sources are; null for the project's `origin`. */
  readonly base: string | null;
  /** The service whose URL grammar the host parses; absent for native URLs. */
  readonly urls?: string;
  /** Time by the front end's clock. */
  readonly updatedAt: Date;
}

interface Claim {
  readonly _id: string;
  readonly projectId: string;
}

/**
 * Assigns hosts to projects. The host is the document id, so each host belongs to one project in
 * the deployment. A host is claimed before the project lists it, and released after the project
 * drops it.
 */
export class HostClaims {
  readonly #collection: Collection<Claim>;

  constructor(db: Db) {
    this.#collection = db.collection('hosts');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ projectId: 1 });
  }

  /** Claims a host unless another project owns it. @returns the owner's id */
  async claim(host: string, projectId: string): Promise<string> {
    const insert = () => this.#collection.insertOne({ _id: host, projectId });
    await withTimeout(retryOnDeadlock(insert)).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    const claim = await withTimeout(this.#collection.findOne({ _id: host }));
    if (claim === null) throw new StoreUnavailable('the host is being released; try again');
    return claim.projectId;
  }

  async release(host: string, projectId: string): Promise<void> {
    await withTimeout(this.#collection.deleteMany({ _id: host, projectId }));
  }

  /** Returns the ids of the projects that own any of these hosts. */
  async findOwners(hosts: readonly string[]): Promise<string[]> {
    const found = this.#collection.find({ _id: { $in: [...hosts] } });
    const claims = await withTimeout(found.toArray());
    return [...new Set(claims.map(({ projectId }) => projectId))];
  }
}
