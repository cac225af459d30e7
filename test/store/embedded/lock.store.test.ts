import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { isAlive, thisProcess } from '../../../store/embedded/holder.ts';
import { FolderHeld, runningStoreUrl } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { nextLine, spawnScript } from './children.ts';
import { shortFolder } from './folder.ts';

t.test('a second owner is refused with the pid of the first', async (t) => {
  const folder = shortFolder(t);
  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  const refusal = await startEmbeddedStore(folder).catch((error: unknown) => error);
  t.ok(refusal instanceof FolderHeld, 'in the same process');
  t.match(refusal, { pid: process.pid });
  const other = spawnScript(t, 'owner', [folder]);
  t.equal(await nextLine(other), `held by ${process.pid}`);
  t.equal(await other.exited, 3);
});

t.test('the URL of the owner is found while it runs', async (t) => {
  const folder = shortFolder(t);
  t.equal(await runningStoreUrl(folder), null);
  t.equal(await runningStoreUrl(join(folder, 'nowhere')), null);
  const owner = spawnScript(t, 'owner', [folder]);
  const url = await nextLine(owner);
  t.equal(await runningStoreUrl(folder), url);
  const client = await MongoClient.connect(url);
  t.match(await client.db('a').command({ ping: 1 }), { ok: 1 });
  await client.close();
  owner.process.stdin?.end();
  t.equal(await owner.exited, 0);
  t.equal(await runningStoreUrl(folder), null);
});

t.test('the folder of a killed owner can be opened again', async (t) => {
  const folder = shortFolder(t);
  const owner = spawnScript(t, 'owner', [folder]);
  await nextLine(owner);
  owner.process.kill('SIGKILL');
  await owner.exited;
  t.equal(await runningStoreUrl(folder), null);
  const store = await startEmbeddedStore(folder);
  const client = await MongoClient.connect(store.url);
  t.match(await client.db('a').command({ ping: 1 }), { ok: 1 });
  await client.close();
  await store.close();
});

const skip = existsSync('/proc/self/stat') ? false : 'no start times of processes';
t.test('a process that is reaped during the check is not alive', { skip }, async (t) => {
  const { namespace, socket } = await thisProcess('/nowhere');
  let alive = 0;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    child.kill('SIGKILL');
    const { pid = 0 } = child;
    // Its start differs, also while it runs or is a zombie.
    if (await isAlive({ pid, started: 'earlier', namespace, socket })) alive += 1;
    if (child.signalCode === null) await once(child, 'exit');
  }
  t.equal(alive, 0);
});

t.test('an owner can exit without closing the store', async (t) => {
  const folder = shortFolder(t);
  const owner = spawnScript(t, 'owner', [folder, 'exit']);
  const client = await MongoClient.connect(await nextLine(owner), {
    serverSelectionTimeoutMS: 200,
  });
  const items = client.db('a').collection('items');
  const writing = Array.from({ length: 20 }, async () => {
    for (;;) await items.insertOne({});
  });
  owner.process.stdin?.end();
  await Promise.allSettled(writing);
  t.equal(await owner.exited, 7);
  await client.close();
});

t.test('one of several concurrent processes gets a stale lock', async (t) => {
  const folder = shortFolder(t);
  const stale = spawnScript(t, 'owner', [folder]);
  await nextLine(stale);
  stale.process.kill('SIGKILL');
  await stale.exited;
  const contenders = Array.from({ length: 3 }, () => spawnScript(t, 'owner', [folder]));
  const lines = await Promise.all(contenders.map(nextLine));
  t.equal(lines.filter((line) => line.startsWith('mongodb://')).length, 1, lines.join());
  const starts = await Promise.allSettled([1, 2, 3].map(() => startEmbeddedStore(folder)));
  t.ok(starts.every(({ status }) => status === 'rejected'));
});

t.test('a process with the pid of a former owner is not the owner', async (t) => {
  const folder = shortFolder(t);
  const first = await startEmbeddedStore(folder);
  const inside = join(folder, 'store');
  const [name = ''] = readdirSync(inside).filter((entry) => entry.startsWith('lock.'));
  const held = readlinkSync(join(inside, name));
  t.match(
    held,
    new RegExp(`^${process.pid}\\|[\\w-]{16}\\|\\d+$`),
    'short enough to need no disk block',
  );
  await first.close();

  const forged = shortFolder(t);
  mkdirSync(join(forged, 'store'));
  symlinkSync(held.replace(/\|[\w-]+/, '|earlier'), join(forged, 'store', 'lock.7'));
  const store = await startEmbeddedStore(forged);
  await store.close();
  t.pass('this process could take the lock');
});
