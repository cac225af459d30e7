import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { runningStoreUrl } from '../../../store/embedded/lock.ts';
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
