import type { Collection, Db } from 'mongodb';
import { hashApiKey, newApiKey, newKeyId } from './identifiers.ts';
import { withTimeout } from './outage.ts';
import { byCreation, readPages } from './pages.ts';
import { findOrInsert, retryOnDuplicateKey } from './writes.ts';

export const keyAccesses = ['read', 'write'] as const;
export type KeyAccess = (typeof keyAccesses)[number];

/** An API key as stored: only the SHA-256 of the key, not the key itself. */
export interface ApiKey {
  readonly _id: string;
  readonly hash: string;
  readonly name: string;
  readonly orgId: string;
  /** The key's project; null for all projects in its organisation. */
  readonly projectId: string | null;
  /** Set for root keys, which can access every organisation's projects. */
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

  /** Creates a key. The store does not keep the returned `secret`, so nobody can read it later. */
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

  /** Returns ids of valid keys issued for earlier environments or other machines' environments. */
  async otherEnvironmentKeys(secret: string): Promise<string[]> {
    const others = await this.#collection
      .find({ fromEnvironment: true, hash: { $ne: hashApiKey(secret) }, revokedAt: null })
      .toArray();
    return others.map(({ _id }) => _id);
  }

  async revokeOtherEnvironmentKeys(secret: string): Promise<void> {
    for (const id of await this.otherEnvironmentKeys(secret)) await this.revoke(id);
  }

  /** Returns the key, even if it is revoked. */
  findBySecret(secret: string): Promise<ApiKey | null> {
    return withTimeout(this.#collection.findOne({ hash: hashApiKey(secret) }));
  }

  /** By date of creation. */
  list(): Promise<ApiKey[]> {
    return byCreation(readPages(this.#collection));
  }

  /** Returns a project's own keys, including revoked keys, by id. */
  ofProject(projectId: string): Promise<ApiKey[]> {
    return withTimeout(this.#collection.find({ projectId }).sort({ _id: 1 }).toArray());
  }

  countValid(projectId: string): Promise<number> {
    return withTimeout(this.#collection.countDocuments({ projectId, revokedAt: null }));
  }

  /**
   * Stores a root key with this secret unless the store contains other keys; idempotent. Of
   * concurrent calls, one stores its key.
   * @param orgId the default organisation
   * @returns whether the store contains the key
   */
  async storeFirst(secret: string, orgId: string): Promise<boolean> {
    // All machines use the same id, because they share the default organisation.
    const _id = orgId.replace('org_', 'key_');
    if ((await this.#collection.findOne({ _id: { $ne: _id } })) === null) {
      await findOrInsert(this.#collection, _id, {
        hash: hashApiKey(secret),
        name: 'root',
        orgId,
        projectId: null,
        allOrganisations: true,
        access: 'write',
        createdAt: new Date(),
        revokedAt: null,
      });
    }
    return (await this.findBySecret(secret)) !== null;
  }

  /**
   * Revokes a key, and keeps an earlier revocation date. Returns null for an unknown id.
   * @param projectId restricts the call to this project's own keys
   */
  async revoke(id: string, projectId?: string): Promise<ApiKey | null> {
    const filter = { _id: id, ...(projectId === undefined ? {} : { projectId }) };
    const revocation = { $set: { revokedAt: new Date() } };
    await withTimeout(this.#collection.updateOne({ ...filter, revokedAt: null }, revocation));
    return withTimeout(this.#collection.findOne(filter));
  }

  /** Deletes a key that no client has received. */
  async delete(id: string): Promise<void> {
    await withTimeout(this.#collection.deleteMany({ _id: id }));
  }
}
