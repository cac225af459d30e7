import { MongoClient } from 'mongodb';

/** The servers with MongoDB's protocol that the tests distinguish. */
export type ServerName = 'embedded' | 'mongodb' | 'ferretdb';

/** Behaviours of MongoDB 7.0 that tests expect, but that can differ on other servers. */
export const behaviours = {
  duplicateKeyCode: 'a duplicate key in a findAndModify is the error 11000',
  duplicateKeyDetails: 'the error 11000 names index, key and value',
  indexOverDuplicates: 'a unique index over duplicates is refused with the error 11000',
  concurrentWrites: 'concurrent writes of one new key end with success or the error 11000',
  contention: '60 writes of one document at once take less than 1.5 s, the limit of a request',
  cursorCollection: "a cursor is read only with its own collection's name",
  addedFields: 'fields that one update adds are stored in the order of their names',
} as const;

export type Behaviour = keyof typeof behaviours;

interface Difference {
  /** The server's behaviour, and the reason. */
  readonly reason: string;
  /** How the service, or else the tests, handle it. */
  readonly handling: string;
}

const notCompared = 'not compared; the service does not depend on it';

/** Known differences of the servers. Any other failure on a server is a bug of this project. */
export const differences: Readonly<
  Record<ServerName, Readonly<Partial<Record<Behaviour, Difference>>>>
> = {
  embedded: {},
  mongodb: {},
  ferretdb: {
    duplicateKeyCode: {
      reason: "it is error 1 with PostgreSQL's message",
      handling: '`store/writes.ts` makes it 11000',
    },
    duplicateKeyDetails: {
      reason: 'the message is that of DocumentDB, with the name of the index only',
      handling: notCompared,
    },
    indexOverDuplicates: {
      reason: 'it is error 1: the index is an exclusion constraint of PostgreSQL',
      handling: 'the code is not compared',
    },
    concurrentWrites: {
      reason: 'PostgreSQL may find a deadlock of the exclusion constraint, after a second',
      handling:
        "`store/writes.ts` repeats the write; the rate limiter's key is `_id`, which is no such constraint",
    },
    contention: {
      reason: 'each transaction waits for the one before in PostgreSQL',
      handling: 'ten at once in the tests; the service responds with 503',
    },
    cursorCollection: {
      reason: 'a cursor is found by its number alone',
      handling: notCompared,
    },
    addedFields: {
      reason: 'they are stored in the order of the operators',
      handling: notCompared,
    },
  },
};

export interface Server {
  readonly name: ServerName;
  readonly version: string;
}

/** Identifies a server by its `buildInfo`. Rejects when it does not respond. */
export async function identify(url: string): Promise<Server> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    const info = await client.db('admin').command({ buildInfo: 1 });
    if (info['embedded'] === true) return { name: 'embedded', version: 'of these sources' };
    const ferretdb: unknown = info['ferretdb']?.version;
    if (ferretdb !== undefined) return { name: 'ferretdb', version: String(ferretdb) };
    return { name: 'mongodb', version: String(info['version']) };
  } finally {
    await client.close();
  }
}

let server: Promise<Server> | undefined;

/**
 * Returns the reason for a difference in behaviour on the tests' server, for tap's `skip`, or
 * false.
 */
export async function differs(behaviour: Behaviour): Promise<string | false> {
  const url = process.env['SERVICE_MONGODB_URL'];
  if (!url) return false;
  server ??= identify(url);
  const { name } = await server;
  const difference = differences[name][behaviour];
  return difference === undefined ? false : `${name}: ${difference.reason}`;
}

/** Runs calls that write one document: all at once, or ten at once on a server with contention. */
export async function together<T>(calls: readonly (() => Promise<T>)[]): Promise<T[]> {
  const atOnce = (await differs('contention')) ? 10 : calls.length;
  const results: T[] = [];
  for (let from = 0; from < calls.length; from += atOnce) {
    const batch = calls.slice(from, from + atOnce);
    results.push(...(await Promise.all(batch.map((call) => call()))));
  }
  return results;
}
