import type { Collection, Db } from 'mongodb';
import { newOrganisationId } from './identifiers.ts';

export interface Organisation {
  readonly _id: string;
  readonly name: string;
  /** Without product access every key of the organisation is answered with 402. */
  readonly productAccess: boolean;
  /** Marks the one that self-hosted projects and keys belong to unless another is named. */
  readonly isDefault?: true;
  readonly createdAt: Date;
}

export class Organisations {
  readonly #collection: Collection<Organisation>;

  constructor(db: Db) {
    this.#collection = db.collection('organisations');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex(
      { isDefault: 1 },
      { unique: true, partialFilterExpression: { isDefault: true } },
    );
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
    const upsert = () =>
      this.#collection.findOneAndUpdate(
        { isDefault: true },
        {
          $setOnInsert: {
            _id: newOrganisationId(),
            name: 'Default',
            productAccess: true,
            createdAt: new Date(),
          },
        },
        { upsert: true, returnDocument: 'after' },
      );
    // Of two upserts at once the server may let one fail on the unique index; the document that
    // won is there by then.
    const organisation = await upsert().catch(upsert);
    if (organisation === null) throw new Error('the default organisation could not be made');
    return organisation;
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
