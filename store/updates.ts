import { type Db, MongoServerError } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { retryOnDeadlock } from './upsert.ts';

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
export async function updateTogether(
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
