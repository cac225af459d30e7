import {
  type Collection,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';

const duplicateKey = 11_000;

/** Whether a write was refused because another document has the value of a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}

/**
 * Runs an upsert, and retries it once after a duplicate key error. Of two concurrent upserts of one
 * key, one may fail (MongoDB manual, "Upsert with Unique Index"); then the other one has inserted
 * the document.
 */
export function retryOnDuplicateKey<T>(upsert: () => Promise<T>): Promise<T> {
  return upsert().catch((error: unknown) => {
    if (isDuplicateKey(error)) return upsert();
    throw error;
  });
}

/** The document with an id; inserted if there is none, once even with concurrent calls. */
export async function findOrInsert<T extends { readonly _id: string }>(
  collection: Collection<T>,
  _id: T['_id'],
  fresh: Omit<T, '_id'>,
): Promise<WithId<T>> {
  const filter = { _id } as Filter<T>;
  const insert = { $setOnInsert: fresh } as UpdateFilter<T>;
  const document = await retryOnDuplicateKey(() =>
    collection.findOneAndUpdate(filter, insert, { upsert: true, returnDocument: 'after' }),
  );
  if (document === null) throw new Error(`${collection.collectionName} has no ${_id}`);
  return document;
}
