import type { Collection, Db } from 'mongodb';
import { hashApiKey, newApiKey, newKeyId } from './identifiers.ts';
import { againOnDuplicate } from './upsert.ts';

export type KeyAccess = 'read' | 'write';

/** An API key as it is stored: the key itself is not, only its SHA-256. */
export interface ApiKey {
  readonly _id: string;
  readonly hash: string;
  readonly name: string;
  readonly orgId: string;
  /** The one project that the key is for; null for all of its organisation. */
  readonly projectId: string | null;
  /** Set for a root key, whose projects are those of every organisation. */
  readonly allOrganisations?: true;
  readonly access: KeyAccess;
  /** Set for the key that the environment names. */
  readonly fromEnvironment?: true;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface NewKey {
  readonly name: string;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly allOrganisations?: true;
  readonly access: KeyAccess;
}

export class Keys {
  readonly #collection: Collection<ApiKey>;

  constructor(db: Db) {
    this.#collection = db.collection('keys');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ hash: 1 }, { unique: true });
  }

  /** Makes a key. `secret` is the only time that it can be read. */
  async issue(input: NewKey): Promise<{ key: ApiKey; secret: string }> {
    const secret = newApiKey();
    const key: ApiKey = {
      _id: newKeyId(),
      hash: hashApiKey(secret),
      ...input,
      createdAt: new Date(),
      revokedAt: null,
    };
    await this.#collection.insertOne(key);
    return { key, secret };
  }

  /**
   * Makes the key that the environment names known, and ends the one that it named before: whoever
   * changes the setting wants the old key to stop working.
   */
  async adoptFromEnvironment(secret: string, orgId: string): Promise<void> {
    const hash = hashApiKey(secret);
    await this.#collection.updateMany(
      { fromEnvironment: true, hash: { $ne: hash }, revokedAt: null },
      { $set: { revokedAt: new Date() } },
    );
    const upsert = () =>
      this.#collection.updateOne(
        { hash },
        {
          // Whatever a key of this secret was for before: the setting promises all of it.
          $set: {
            projectId: null,
            allOrganisations: true,
            access: 'write',
            fromEnvironment: true,
            revokedAt: null,
          },
          $setOnInsert: {
            _id: newKeyId(),
            name: 'SERVICE_ROOT_API_KEY',
            orgId,
            createdAt: new Date(),
          },
        },
        { upsert: true },
      );
    await againOnDuplicate(upsert);
  }

  /** The key behind a secret, revoked or not; null when there is none. */
  findBySecret(secret: string): Promise<ApiKey | null> {
    return this.#collection.findOne({ hash: hashApiKey(secret) });
  }

  list(): Promise<ApiKey[]> {
    return this.#collection.find().sort({ createdAt: 1, _id: 1 }).toArray();
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#collection.findOne({}, { projection: { _id: 1 } })) === null;
  }

  /** The key as it is now; null when there is none of that id. Revoking twice keeps the first date. */
  async revoke(id: string): Promise<ApiKey | null> {
    await this.#collection.updateOne(
      { _id: id, revokedAt: null },
      { $set: { revokedAt: new Date() } },
    );
    return this.#collection.findOne({ _id: id });
  }
}
