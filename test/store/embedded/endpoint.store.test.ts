import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { ForeignFolder } from '../../../store/embedded/endpoint.ts';
import { DataDirLockedError, runningStoreUrl } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { shortFolder, withStore } from './stores.ts';

const mode = (path: string) => statSync(path).mode & 0o777;

/**
 * Starts a folder's store, checks that clients find it and that it works, and returns its socket
 * path.
 */
const toSocket = (folder: string): Promise<string> =>
  withStore(folder, async (items, { url }) => {
    await items.countDocuments();
    const socket = decodeURIComponent(new URL(url).host);
    const found = await runningStoreUrl(folder);
    if (found !== url || mode(socket) !== 0o600 || mode(dirname(socket)) !== 0o700) {
      throw new Error(`${found} ${url}`);
    }
    return socket;
  });

t.test('denies other users access to the socket and the data', async (t) => {
  const folder = shortFolder(t);
  const inside = join(folder, 'store');
  mkdirSync(inside, { mode: 0o755 });
  t.equal(dirname(await toSocket(folder)), inside);
  t.ok(existsSync(join(inside, 'documents.log')), 'also in the private folder');
});

t.test('accepts any folder name', async (t) => {
  for (const name of ['Größe: A, B & C?', '100%41']) {
    await t.resolves(toSocket(join(shortFolder(t), name)), name);
  }
});

t.test("puts a long path's socket into another private folder", async (t) => {
  const folder = join(shortFolder(t), 'deep'.repeat(30));
  const socket = await toSocket(folder);
  t.ok(Buffer.byteLength(socket) <= 107);
  t.notOk(existsSync(dirname(socket)), 'it is removed at the end');
  t.equal(await toSocket(folder), socket, 'at the same path each time');

  mkdirSync(dirname(socket));
  t.teardown(() => rmSync(dirname(socket), { recursive: true, force: true }));
  chmodSync(dirname(socket), 0o777);
  await t.rejects(
    startEmbeddedStore(folder),
    new ForeignFolder(`${dirname(socket)} is not a private folder of this user`),
  );
});

t.test('puts sockets into another private folder if the folder accepts none', async (t) => {
  const folder = shortFolder(t);
  const inside = join(folder, 'store');
  await toSocket(folder);
  for (const name of readdirSync(inside)) {
    if (name.startsWith('lock.')) rmSync(join(inside, name));
  }
  // As on vfat, the system refuses sockets and modes; the data file exists already.
  const setImmutable = (sign: string) => spawnSync('chattr', [`${sign}i`, inside]).status === 0;
  if (!setImmutable('+')) return void t.plan(0, 'needs chattr +i');
  t.teardown(() => setImmutable('-'));
  const socket = await withStore(folder, async (items, { url }) => {
    await items.insertOne({ _id: 1 });
    t.equal(await runningStoreUrl(folder), url);
    await t.rejects(startEmbeddedStore(folder), DataDirLockedError);
    return decodeURIComponent(new URL(url).host);
  });
  t.not(dirname(socket), inside);
  t.teardown(() => rmSync(dirname(socket), { recursive: true, force: true }));
  t.equal(await runningStoreUrl(folder), null);
  t.equal(await toSocket(folder), socket, 'at the same path each time');
  chmodSync(dirname(socket), 0o777);
  t.equal(await runningStoreUrl(folder), null);
  const foreign = new ForeignFolder(`${dirname(socket)} is not a private folder of this user`);
  await t.rejects(startEmbeddedStore(folder), foreign);
});

t.test('fails on a file instead of the folder, and leaves no lock', async (t) => {
  const folder = shortFolder(t);
  const inside = join(folder, 'store');
  writeFileSync(inside, '');
  await t.rejects(startEmbeddedStore(folder));
  rmSync(inside);
  const data = join(inside, 'documents.log');
  mkdirSync(data, { recursive: true });
  await t.rejects(startEmbeddedStore(folder), 'a folder instead of the data file');
  t.equal(await runningStoreUrl(folder), null);
  rmSync(data, { recursive: true });
  await t.resolves(toSocket(folder));
});
