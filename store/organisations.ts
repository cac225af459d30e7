import {
  type Collection,
  type Db,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';
import { newOrganisationId } from './identifiers.ts';

export interface Organisation {
  readonly _id: string;
  readonly name: string;
  /** Without product access every key of the organisation is answered with 402. */
  readonly productAccess: boolean;
  readonly createdAt: Date;
}

/** What there is one of in a deployment. */
interface Deployment {
  readonly _id: 'deployment';
  /** Self-hosted projects and keys belong to this organisation unless another is named. */
  readonly defaultOrganisation: string;
}

const duplicateKey = 11_000;

export class Organisations {
  readonly #collection: Collection<Organisation>;
  readonly #deployments: Collection<Deployment>;

  constructor(db: Db) {
    this.#collection = db.collection('organisations');
    this.#deployments = db.collection('deployments');
  }

  async create(name: string): Promise<Organisation> {
    const organisation = {
      _id: newOrganisationId(),
      name,
      productAccess: true,
      createdAt: new Date(),
    };
    await this.#collection.insertOne(organisation);
    return organisation;
  }

  /** The default organisation, made by whoever asks first; others that ask meanwhile get the same. */
  async default(): Promise<Organisation> {
    const { defaultOrganisation: _id } = await findOrInsert(this.#deployments, 'deployment', {
      defaultOrganisation: newOrganisationId(),
    });
    return findOrInsert(this.#collection, _id, {
      name: 'Default',
      productAccess: true,
      createdAt: new Date(),
    });
  }

  find(id: string): Promise<Organisation | null> {
    return this.#collection.findOne({ _id: id });
  }

  list(): Promise<Organisation[]> {
    return this.#collection.find().sort({ createdAt: 1, _id: 1 }).toArray();
  }

  /** Null when there is no such organisation. */
  setProductAccess(id: string, productAccess: boolean): Promise<Organisation | null> {
    return this.#collection.findOneAndUpdate(
      { _id: id },
      { $set: { productAccess } },
      { returnDocument: 'after' },
    );
  }
}

/** The document of an id; inserted when there is none, by one of those who ask at once. */
async function findOrInsert<T extends { readonly _id: string }>(
  collection: Collection<T>,
  _id: T['_id'],
  fresh: Omit<T, '_id'>,
): Promise<WithId<T>> {
  const filter = { _id } as Filter<T>;
  const insert = { $setOnInsert: fresh } as UpdateFilter<T>;
  const upsert = () =>
    collection.findOneAndUpdate(filter, insert, { upsert: true, returnDocument: 'after' });
  // Of two upserts of one id at once a server may let one fail on it (MongoDB manual, "Upsert with
  // Unique Index"); the document of the other is there by then.
  const document = await upsert().catch((error: unknown) => {
    if (error instanceof MongoServerError && error.code === duplicateKey) return upsert();
    throw error;
  });
  if (document === null) throw new Error(`${collection.collectionName} has no ${_id}`);
  return document;
}
