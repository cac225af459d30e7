import type { Collection, Db } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { hashApiKey, newApiKey, newKeyId } from './identifiers.ts';
import { byCreation, pagesOf } from './pages.ts';
import { retryOnDuplicateKey } from './upsert.ts';

export const keyAccesses = ['read', 'write'] as const;
export type KeyAccess = (typeof keyAccesses)[number];

/** An API key as stored: only the SHA-256 of the key, not the key itself. */
export interface ApiKey {
  readonly _id: string;
  readonly hash: string;
  readonly name: string;
  readonly orgId: string;
  /** The project of the key; null for all projects of its organisation. */
  readonly projectId: string | null;
  /** Set for a root key, which has access to the projects of every organisation. */
  readonly allOrganisations?: true;
  readonly access: KeyAccess;
  /** Set for the key from SERVICE_ROOT_API_KEY. */
  readonly fromEnvironment?: true;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export type NewKey = Pick<ApiKey, 'name' | 'orgId' | 'projectId' | 'allOrganisations' | 'access'>;

export class Keys {
  readonly #collection: Collection<ApiKey>;

  constructor(db: Db) {
    this.#collection = db.collection('keys');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ hash: 1 }, { unique: true });
    await this.#collection.createIndex({ projectId: 1 });
  }

  /** Creates a key. The returned `secret` is not stored, so it cannot be read later. */
  async issue(input: NewKey): Promise<{ key: ApiKey; secret: string }> {
    const secret = newApiKey();
    const key: ApiKey = {
      _id: newKeyId(),
      hash: hashApiKey(secret),
      ...input,
      createdAt: new Date(),
      revokedAt: null,
    };
    await withTimeout(this.#collection.insertOne(key));
    return { key, secret };
  }

  /** Stores the key from the environment. A stored key with fewer rights gets full access. */
  async storeEnvironmentKey(secret: string, orgId: string): Promise<void> {
    const hash = hashApiKey(secret);
    const rights = {
      projectId: null,
      allOrganisations: true,
      access: 'write',
      fromEnvironment: true,
      revokedAt: null,
    } as const;
    if ((await this.#collection.findOne({ hash, ...rights })) !== null) return;
    const upsert = () =>
      this.#collection.updateOne(
        { hash },
        {
          $set: rights,
          $setOnInsert: {
            _id: newKeyId(),
            name: 'SERVICE_ROOT_API_KEY',
            orgId,
            createdAt: new Date(),
          },
        },
        { upsert: true },
      );
    await retryOnDuplicateKey(upsert);
  }

  /** Ids of the valid keys that earlier environments, or those of other machines, had. */
  async otherEnvironmentKeys(secret: string): Promise<string[]> {
    const others = await this.#collection
      .find({ fromEnvironment: true, hash: { $ne: hashApiKey(secret) }, revokedAt: null })
      .toArray();
    return others.map(({ _id }) => _id);
  }

  async revokeOtherEnvironmentKeys(secret: string): Promise<void> {
    for (const id of await this.otherEnvironmentKeys(secret)) await this.revoke(id);
  }

  /** Also returns revoked keys. */
  findBySecret(secret: string): Promise<ApiKey | null> {
    return withTimeout(this.#collection.findOne({ hash: hashApiKey(secret) }));
  }

  /** By date of creation. */
  list(): Promise<ApiKey[]> {
    return byCreation(pagesOf(this.#collection));
  }

  /** The keys that are limited to a project, also revoked ones, by their ids. */
  ofProject(projectId: string): Promise<ApiKey[]> {
    return withTimeout(this.#collection.find({ projectId }).sort({ _id: 1 }).toArray());
  }

  countValid(projectId: string): Promise<number> {
    return withTimeout(this.#collection.countDocuments({ projectId, revokedAt: null }));
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#collection.findOne({}, { projection: { _id: 1 } })) === null;
  }

  /**
   * Revokes a key, and keeps the date of an earlier revocation. Null for an unknown id.
   * @param projectId only a key that is limited to it
   */
  async revoke(id: string, projectId?: string): Promise<ApiKey | null> {
    const one = { _id: id, ...(projectId === undefined ? {} : { projectId }) };
    const revocation = { $set: { revokedAt: new Date() } };
    await withTimeout(this.#collection.updateOne({ ...one, revokedAt: null }, revocation));
    return withTimeout(this.#collection.findOne(one));
  }

  /** Deletes a key that nobody has received. */
  async delete(id: string): Promise<void> {
    await withTimeout(this.#collection.deleteMany({ _id: id }));
  }
}
