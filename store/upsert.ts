import {
  type Collection,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';

const duplicateKey = 11_000;

/**
 * Runs an upsert, and once more when it failed on a unique index. Of two upserts of one key at once a
 * server may let one fail (MongoDB manual, "Upsert with Unique Index"); the document of the other is
 * there by then.
 */
export function againOnDuplicate<T>(upsert: () => Promise<T>): Promise<T> {
  return upsert().catch((error: unknown) => {
    if (error instanceof MongoServerError && error.code === duplicateKey) return upsert();
    throw error;
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
  const document = await againOnDuplicate(() =>
    collection.findOneAndUpdate(filter, insert, { upsert: true, returnDocument: 'after' }),
  );
  if (document === null) throw new Error(`${collection.collectionName} has no ${_id}`);
  return document;
}
