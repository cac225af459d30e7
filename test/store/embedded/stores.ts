import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Collection, MongoClient } from 'mongodb';
import type { Test } from 'tap';
import {
  type EmbeddedStore,
  type EmbeddedStoreOptions,
  startEmbeddedStore,
} from '../../../store/embedded/server.ts';
import { temporaryRoot } from '../../temporary-root.ts';
import type { Item } from './collection.ts';

/**
 * Returns a folder with a path short enough for a socket. The paths of tap's test folders are too
 * long.
 */
export function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(temporaryRoot, 'embedded-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a folder's store, runs an action on a collection of it, and closes the store. */
export async function withStore<Result>(
  folder: string,
  action: (items: Collection<Item>, store: EmbeddedStore) => Promise<Result>,
  options: EmbeddedStoreOptions = {},
): Promise<Result> {
  const store = await startEmbeddedStore(folder, options);
  const client = await MongoClient.connect(store.url);
  try {
    return await action(client.db('a').collection<Item>('items'), store);
  } finally {
    await client.close();
    await store.close();
  }
}
