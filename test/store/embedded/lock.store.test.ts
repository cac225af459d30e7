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

t.test('a second owner in the same process is refused', async (t) => {
  const folder = shortFolder(t);
  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  const refusal = await startEmbeddedStore(folder).catch((error: unknown) => error);
  t.ok(refusal instanceof FolderHeld);
  t.match(refusal, { pid: process.pid });
});

t.test('a second owner in another process is refused, and told who the first is', async (t) => {
  const folder = shortFolder(t);
  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  const other = spawnScript(t, 'owner', [folder]);
  t.equal(await nextLine(other), `held by ${process.pid}`);
  t.equal(await other.exited, 3);
});

t.test('whoever joins finds the owner, as long as there is one', async (t) => {
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

t.test("a killed owner's folder is taken over", async (t) => {
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

const skip = existsSync('/proc/self/stat') ? false : 'this system does not tell starts';
t.test('a process that is reaped during the check is not alive', { skip }, async (t) => {
  const { namespace, socket } = await thisProcess('/nowhere');
  let alive = 0;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    child.kill('SIGKILL');
    const { pid = 0 } = child;
    // Not as long as it runs or is a zombie either, because of its start.
    if (await isAlive({ pid, started: 'earlier', namespace, socket })) alive += 1;
    if (child.signalCode === null) await once(child, 'exit');
  }
  t.equal(alive, 0);
});

t.test('an owner that ends without closing ends cleanly', async (t) => {
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

t.test('of several that take over a stale lock at once one succeeds', async (t) => {
  const folder = shortFolder(t);
  const stale = spawnScript(t, 'owner', [folder]);
  await nextLine(stale);
  stale.process.kill('SIGKILL');
  await stale.exited;
  const contenders = Array.from({ length: 3 }, () => spawnScript(t, 'owner', [folder]));
  const said = await Promise.all(contenders.map(nextLine));
  t.equal(said.filter((line) => line.startsWith('mongodb://')).length, 1, said.join());
  const starts = await Promise.allSettled([1, 2, 3].map(() => startEmbeddedStore(folder)));
  t.ok(starts.every(({ status }) => status === 'rejected'));
});

t.test('a process with the number of a former owner is not taken for it', async (t) => {
  const folder = shortFolder(t);
  const first = await startEmbeddedStore(folder);
  const inside = join(folder, 'store');
  const [name = ''] = readdirSync(inside).filter((entry) => entry.startsWith('lock.'));
  const held = readlinkSync(join(inside, name));
  t.match(
    held,
    new RegExp(`^${process.pid}\\|[\\w-]{16}\\|\\d+$`),
    'it needs no block of a full disk',
  );
  await first.close();

  const forged = shortFolder(t);
  mkdirSync(join(forged, 'store'));
  symlinkSync(held.replace(/\|[\w-]+/, '|earlier'), join(forged, 'store', 'lock.7'));
  const store = await startEmbeddedStore(forged);
  await store.close();
  t.pass('this very process was not in the way of itself');
});
