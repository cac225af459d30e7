import {
  type Collection,
  type Db,
  type Filter,
  MongoServerError,
  type UpdateFilter,
  type WithId,
} from 'mongodb';
import { withTimeout } from './outage.ts';

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

/** One update of the `update` command. */
export interface UpdateStatement {
  readonly q: { readonly _id: string };
  readonly u: object;
  readonly upsert?: boolean;
}

interface WriteError {
  readonly index: number;
  readonly code: number;
  readonly errmsg: string;
}

/** Timeout, in ms. It is long, because no request waits for the command. */
const withinMs = 10_000;

/**
 * Updates several documents with one command, which takes a tenth of the time that separate calls
 * take. Retries failed updates once, because another process might have inserted the same document.
 *
 * Sorts the updates by id: FerretDB locks each document in order until the command ends, so
 * commands with different orders would deadlock.
 */
export async function bulkUpdate(
  db: Db,
  collection: string,
  statements: readonly UpdateStatement[],
): Promise<void> {
  if (statements.length === 0) return;
  const updates = statements.toSorted((a, b) => (a.q._id < b.q._id ? -1 : 1));
  const failed = await run(db, collection, updates);
  const again = updates.filter((_, index) => failed.some((error) => error.index === index));
  const [error] = again.length === 0 ? [] : await run(db, collection, again);
  if (error !== undefined) throw new MongoServerError({ message: error.errmsg, ...error });
}

async function run(
  db: Db,
  collection: string,
  updates: readonly UpdateStatement[],
): Promise<readonly WriteError[]> {
  const command = { update: collection, updates, ordered: false };
  const reply = retryOnDeadlock(() => db.command(command));
  const { writeErrors = [] } = await withTimeout(reply, withinMs);
  return writeErrors;
}
