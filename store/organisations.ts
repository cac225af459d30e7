import type { Collection, Db } from 'mongodb';
import { findDeployment } from './deployment.ts';
import { newOrganisationId } from './identifiers.ts';
import { withTimeout } from './outage.ts';
import { byCreation, readPages } from './pages.ts';
import { findOrInsert } from './writes.ts';

export interface Organisation {
  readonly _id: string;
  readonly name: string;
  /** If false, requests with the organisation's keys return 402. */
  readonly productAccess: boolean;
  readonly createdAt: Date;
}

export class Organisations {
  readonly #collection: Collection<Organisation>;
  readonly #db: Db;

  constructor(db: Db) {
    this.#collection = db.collection('organisations');
    this.#db = db;
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

  /** The default organisation, created on first use; safe for concurrent calls. */
  async default(): Promise<Organisation> {
    const { defaultOrganisation: _id } = await findDeployment(this.#db);
    return findOrInsert(this.#collection, _id, {
      name: 'Default',
      productAccess: true,
      createdAt: new Date(),
    });
  }

  find(id: string): Promise<Organisation | null> {
    return withTimeout(this.#collection.findOne({ _id: id }));
  }

  /** By date of creation. */
  list(): Promise<Organisation[]> {
    return byCreation(readPages(this.#collection));
  }

  /** Null for an unknown id. */
  setProductAccess(id: string, productAccess: boolean): Promise<Organisation | null> {
    return this.#collection.findOneAndUpdate(
      { _id: id },
      { $set: { productAccess } },
      { returnDocument: 'after' },
    );
  }
}
