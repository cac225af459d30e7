import {
  type Collection,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';

const duplicateKey = 11_000;
const internalError = 1;

/** PostgreSQL's messages of SQLSTATE 23505 and 23P01, an internal error in a findAndModify of FerretDB 2. */
const constraintViolation =
  /^(?:duplicate|conflicting) key value violates (?:unique|exclusion) constraint "/;
/** PostgreSQL's message of SQLSTATE 40P01, which FerretDB 2 reports with differing codes. */
const deadlock = 'deadlock detected';
/** Few, because a deadlock lasts a second (`deadlock_timeout`); one of its writes succeeds. */
const attempts = 3;

/** Returns whether a write failed because another document has the same value in a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  if (!(error instanceof MongoServerError)) return false;
  const { code, message } = error;
  return code === duplicateKey || (code === internalError && constraintViolation.test(message));
}

/**
 * Writes a document with a unique index. Every server reports duplicate keys with the code 11000.
 * Retries after a deadlock, which leaves no effect; MongoDB itself has no such deadlocks.
 */
export async function retryOnDeadlock<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error;
      const { code, message } = error;
      if (code !== duplicateKey && isDuplicateKey(error)) {
        throw new MongoServerError({ message, code: duplicateKey });
      }
      if (message !== deadlock || attempt === attempts) throw error;
    }
  }
}

/**
 * Runs an upsert and retries it once after a duplicate key error: of two concurrent upserts with
 * the same key, one can fail (MongoDB manual, "Upsert with Unique Index") after the other has
 * inserted the document.
 */
export function retryOnDuplicateKey<T>(upsert: () => Promise<T>): Promise<T> {
  return retryOnDeadlock(upsert).catch((error: unknown) => {
    if (isDuplicateKey(error)) return retryOnDeadlock(upsert);
    throw error;
  });
}

/** Concurrent calls insert one document. */
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
