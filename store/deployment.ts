import { randomBytes } from 'node:crypto';
import {
  type Collection,
  type Db,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';
import { newOrganisationId } from './identifiers.ts';

/** What there is one of in a deployment. */
export interface Deployment {
  readonly _id: 'deployment';
  /** Self-hosted projects and keys belong to this organisation unless another is named. */
  readonly defaultOrganisation: string;
  /** Marks requests as background work; see background-token.ts. */
  readonly backgroundSecret: string;
}

const duplicateKey = 11_000;

/** The deployment's own document, made by whoever asks first. */
export function findDeployment(db: Db): Promise<Deployment> {
  return findOrInsert(db.collection<Deployment>('deployments'), 'deployment', {
    defaultOrganisation: newOrganisationId(),
    backgroundSecret: randomBytes(32).toString('base64url'),
  });
}

/** The document of an id; inserted when there is none, by one of those who ask at once. */
export async function findOrInsert<T extends { readonly _id: string }>(
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
