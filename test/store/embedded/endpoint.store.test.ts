import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { ForeignFolder } from '../../../store/embedded/endpoint.ts';
import { runningStoreUrl } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { shortFolder } from './folder.ts';

const socketOf = (url: string) => decodeURIComponent(new URL(url).host);
const mode = (path: string) => statSync(path).mode & 0o777;

async function works(url: string): Promise<boolean> {
  const client = await MongoClient.connect(url);
  await client.db('a').collection('items').insertOne({});
  await client.close();
  return true;
}

t.test('other users have no access to the socket and the data', async (t) => {
  const folder = shortFolder(t);
  mkdirSync(join(folder, 'store'), { mode: 0o755 });
  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  const socket = socketOf(store.url);
  t.equal(mode(dirname(socket)), 0o700);
  t.equal(mode(socket), 0o600);
  t.equal(dirname(socket), join(folder, 'store'));
  t.ok(existsSync(join(folder, 'store', 'documents.lmdb')), 'also in the private folder');
});

t.test('the folder may have any name', async (t) => {
  for (const name of ['Größe: A, B & C?', '100%41']) {
    const folder = join(shortFolder(t), name);
    const store = await startEmbeddedStore(folder);
    t.ok(await works(store.url), name);
    t.equal(await runningStoreUrl(folder), store.url);
    await store.close();
  }
});

t.test('a deep folder has its socket in another private folder', async (t) => {
  const folder = join(shortFolder(t), 'deep'.repeat(30));
  const store = await startEmbeddedStore(folder);
  const socket = socketOf(store.url);
  t.ok(Buffer.byteLength(socket) <= 107);
  t.equal(mode(dirname(socket)), 0o700);
  t.ok(await works(store.url));
  t.equal(await runningStoreUrl(folder), store.url);
  await store.close();
  t.notOk(existsSync(dirname(socket)), 'which close removes');
  const again = await startEmbeddedStore(folder);
  t.equal(again.url, store.url, 'at the same path each time');
  await again.close();

  mkdirSync(dirname(socket));
  t.teardown(() => rmSync(dirname(socket), { recursive: true, force: true }));
  chmodSync(dirname(socket), 0o777);
  await t.rejects(
    startEmbeddedStore(folder),
    new ForeignFolder(`${dirname(socket)} is not a private folder of this user`),
  );
});

t.test('a file instead of the folder is an error and leaves no lock', async (t) => {
  const folder = shortFolder(t);
  writeFileSync(join(folder, 'store'), '');
  await t.rejects(startEmbeddedStore(folder));
  rmSync(join(folder, 'store'));
  mkdirSync(join(folder, 'store', 'documents.lmdb'), { recursive: true });
  await t.rejects(startEmbeddedStore(folder), 'the thread cannot start');
  t.equal(await runningStoreUrl(folder), null);
  rmSync(join(folder, 'store', 'documents.lmdb'), { recursive: true });
  const store = await startEmbeddedStore(folder);
  t.ok(await works(store.url));
  await store.close();
});
