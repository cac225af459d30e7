import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import type { Test } from 'tap';
import { startEmbeddedStore } from '../../store/embedded/server.ts';

export interface TestDatabase {
  readonly client: MongoClient;
  readonly db: Db;
  readonly url: string;
  readonly databaseName: string;
}

/**
 * A database of its own for a test: on the server that SERVICE_MONGODB_URL names, or else in an
 * embedded store of its own. It is dropped when the test is over.
 */
export async function testDatabase(t: Test): Promise<TestDatabase> {
  const url = process.env['SERVICE_MONGODB_URL'] ?? (await embeddedUrl(t));
  const client = await MongoClient.connect(url);
  const databaseName = `test_${randomBytes(8).toString('hex')}`;
  const db = client.db(databaseName);
  // tap runs teardowns in reverse, so the store outlives the client.
  t.teardown(async () => {
    await db.dropDatabase();
    await client.close();
  });
  return { client, db, url, databaseName };
}

/** Starts an embedded store for a test, in a folder that goes with it. */
export async function embeddedUrl(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-store-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  return store.url;
}
