import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { isAlive, runningStoreUrl, thisProcess } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { startOwner } from './children.ts';
import { shortFolder, withStore } from './stores.ts';

t.test('rejects a second owner and names the pid of the first', async (t) => {
  const folder = shortFolder(t);
  await withStore(folder, async () => {
    const { pid } = process;
    await t.rejects(
      startEmbeddedStore(folder),
      { name: 'DataDirLockedError', pid },
      'in this process',
    );
    const other = startOwner(t, [folder]);
    t.equal(await other.nextLine(), `held by ${pid}`);
    t.equal(await other.exited, 3);
  });
});

t.test("finds the owner's URL while it runs", async (t) => {
  const folder = shortFolder(t);
  t.equal(await runningStoreUrl(folder), null);
  t.equal(await runningStoreUrl(join(folder, 'nowhere')), null);
  const owner = startOwner(t, [folder]);
  t.equal(await owner.nextLine(), await runningStoreUrl(folder));
  owner.process.stdin?.end();
  t.equal(await owner.exited, 0);
  t.equal(await runningStoreUrl(folder), null);
});

t.test("gives a killed owner's lock to one of several concurrent processes", async (t) => {
  const folder = shortFolder(t);
  const killed = startOwner(t, [folder]);
  await killed.nextLine();
  killed.process.kill('SIGKILL');
  await killed.exited;
  t.equal(await runningStoreUrl(folder), null);
  const processes = [1, 2, 3].map(() => startOwner(t, [folder]));
  const lines = await Promise.all(processes.map(({ nextLine }) => nextLine()));
  t.equal(lines.filter((line) => line.startsWith('mongodb://')).length, 1, lines.join());
  const starts = await Promise.allSettled([1, 2, 3].map(() => startEmbeddedStore(folder)));
  t.ok(starts.every(({ status }) => status === 'rejected'));
});

const skip = existsSync('/proc/self/stat') ? false : 'no start times of processes';
t.test('treats a process reaped during the check as dead', { skip }, async (t) => {
  const { namespace, socket } = await thisProcess('/nowhere');
  let alive = 0;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    child.kill('SIGKILL');
    const { pid = 0 } = child;
    // The start time differs, even while the process runs or is a zombie.
    if (await isAlive({ pid, started: 'earlier', namespace, socket })) alive += 1;
    if (child.signalCode === null) await once(child, 'exit');
  }
  t.equal(alive, 0);
});

t.test('lets an owner exit with its store open', async (t) => {
  const folder = shortFolder(t);
  const owner = startOwner(t, [folder, 'exit']);
  const url = await owner.nextLine();
  const client = await MongoClient.connect(url);
  const items = client.db('a').collection('items');
  const writers = Array.from({ length: 20 }, async () => {
    for (;;) await items.insertOne({});
  });
  const ended = Promise.allSettled(writers);
  owner.process.stdin?.end();
  t.equal(await owner.exited, 7);
  await client.close();
  await ended;
});

t.test("does not mistake a process with a former owner's pid for the owner", async (t) => {
  const folder = shortFolder(t);
  const target = await withStore(folder, async () => {
    const inside = join(folder, 'store');
    const [name = ''] = readdirSync(inside).filter((entry) => entry.startsWith('lock.'));
    return readlinkSync(join(inside, name));
  });
  const pattern = new RegExp(`^${process.pid}\\|[\\w-]{16}\\|\\d+$`);
  t.match(target, pattern, 'short enough to need no disk block');

  const forged = shortFolder(t);
  mkdirSync(join(forged, 'store'));
  symlinkSync(target.replace(/\|[\w-]+/, '|earlier'), join(forged, 'store', 'lock.7'));
  await t.resolves(withStore(forged, (items) => items.countDocuments()));
});
