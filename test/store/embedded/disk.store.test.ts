import { MongoClient } from 'mongodb';
import t from 'tap';
import { startOwner } from './children.ts';
import type { Item } from './collection.ts';
import { shortFolder, withStore } from './stores.ts';

t.test('fails a write that does not fit on the disk, and changes nothing', async (t) => {
  const folder = shortFolder(t);
  // The shell's file size limit, in 512-byte blocks, stands for a full disk.
  const limited = ['sh', '-c', 'ulimit -f 2000; exec "$@"', 'sh'];
  const owner = startOwner(t, [folder], limited);
  const client = await MongoClient.connect(await owner.nextLine());
  const items = client.db('a').collection<Item>('items');
  await items.createIndex({ text: 1 });
  const text = 'x'.repeat(1000);
  let acknowledged = 0;
  let failure: unknown;
  while (failure === undefined && acknowledged < 10_000) {
    failure = await items.insertOne({ _id: acknowledged, text }).then(
      () => undefined,
      (error) => error,
    );
    if (failure === undefined) acknowledged += 1;
  }
  // The store detects this before lmdb writes, because a failed lmdb write would corrupt the heap.
  t.match(failure, { code: 14031, message: /^there is no space for the write on the disk/ });
  t.equal(await items.countDocuments(), acknowledged, 'memory has the same documents as the disk');
  t.equal(await items.countDocuments({ text }), acknowledged, 'also by the index');
  t.equal(await items.countDocuments({ _id: acknowledged }), 0);
  const [update] = await Promise.allSettled([
    items.updateOne({ _id: 0 }, { $set: { text: 'y'.repeat(2_000_000) } }),
    items.findOne({ _id: 0 }),
  ]);
  t.equal(update.status, 'rejected');
  t.match(await items.findOne({ _id: 0 }), { text });
  await client.close();
  owner.process.stdin?.end();
  await owner.exited;

  await withStore(folder, async (stored) => {
    t.equal(await stored.countDocuments(), acknowledged);
    await t.resolves(stored.insertOne({ _id: acknowledged, text }), 'with space again');
  });
});
