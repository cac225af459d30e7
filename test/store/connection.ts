import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import allTests, { type Test } from 'tap';
import { openStore, type Store } from '../../store/open.ts';
import { temporaryRoot } from '../temporary-root.ts';

export interface TestDatabase {
  readonly client: MongoClient;
  readonly db: Db;
  readonly url: string;
  readonly databaseName: string;
}

/**
 * Returns a new database for a test: on the server of SERVICE_MONGODB_URL, dropped after the test,
 * or in an embedded store, which ends with the tests.
 */
export async function testDatabase(t: Test): Promise<TestDatabase> {
  const server = process.env['SERVICE_MONGODB_URL'];
  const url = server || (await embeddedUrl());
  const client = await MongoClient.connect(url);
  const databaseName = `test_${randomBytes(8).toString('hex')}`;
  const db = client.db(databaseName);
  t.teardown(async () => {
    if (server) await db.dropDatabase();
    await client.close();
  });
  return { client, db, url, databaseName };
}

let store: Promise<Store> | undefined;

/** Returns an embedded store for all tests of the process. It ends with the last test. */
export async function embeddedUrl(): Promise<string> {
  store ??= startTemporaryStore();
  return (await store).url;
}

async function startTemporaryStore(): Promise<Store> {
  const folder = await mkdtemp(join(temporaryRoot, 'embedded-store-test-'));
  const started = await openStore({ mongodbUrl: null, dataDir: folder }, () => {});
  allTests.teardown(async () => {
    await started.close();
    await rm(folder, { recursive: true, force: true });
  });
  return started;
}

/** Returns true if a promise is fulfilled. */
export const succeeds = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
