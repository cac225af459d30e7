import { MongoClient } from 'mongodb';
import t from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { nextLine, spawnScript } from './children.ts';
import { shortFolder } from './folder.ts';

interface Item {
  _id: number;
  text: string;
}

t.test('a write that does not fit on the disk is refused without an effect', async (t) => {
  const folder = shortFolder(t);
  // The shell's limit on the size of files, in blocks of 512 bytes, stands for a full disk.
  const limited = ['sh', '-c', 'ulimit -f 2000; exec "$@"', 'sh'];
  const owner = spawnScript(t, 'owner', [folder], limited);
  const client = await MongoClient.connect(await nextLine(owner));
  const items = client.db('a').collection<Item>('items');
  await items.createIndex({ text: 1 });
  const text = 'x'.repeat(1000);
  let acknowledged = 0;
  let refusal: unknown;
  while (refusal === undefined && acknowledged < 10_000) {
    refusal = await items.insertOne({ _id: acknowledged, text }).then(
      () => undefined,
      (error) => error,
    );
    if (refusal === undefined) acknowledged += 1;
  }
  // Detected before lmdb writes, whose own failure would corrupt the heap.
  t.match(refusal, { code: 14031, message: /^there is no space for the write on the disk/ });
  t.equal(await items.countDocuments(), acknowledged, 'memory has the same documents as the disk');
  t.equal(await items.countDocuments({ text }), acknowledged, 'also by the index');
  t.equal(await items.countDocuments({ _id: acknowledged }), 0);
  const together = await Promise.allSettled([
    items.updateOne({ _id: 0 }, { $set: { text: 'y'.repeat(2_000_000) } }),
    items.findOne({ _id: 0 }),
  ]);
  t.equal(together[0].status, 'rejected');
  t.match(await items.findOne({ _id: 0 }), { text });
  await client.close();
  owner.process.stdin?.end();
  await owner.exited;

  const store = await startEmbeddedStore(folder);
  t.teardown(() => store.close());
  const again = await MongoClient.connect(store.url);
  t.teardown(() => again.close());
  const stored = again.db('a').collection<Item>('items');
  t.equal(await stored.countDocuments(), acknowledged);
  await t.resolves(stored.insertOne({ _id: acknowledged, text }), 'with space again');
});
