import { MongoClient } from 'mongodb';
import t from 'tap';
import { until } from '../../until.ts';
import { startOwner } from './children.ts';
import { shortFolder } from './stores.ts';

t.test('loses no acknowledged write when the owner dies', async (t) => {
  const folder = shortFolder(t);
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < 3; round += 1) {
    const owner = startOwner(t, [folder]);
    const url = await owner.nextLine();
    const client = await MongoClient.connect(url);
    const lines = client.db('crash').collection<{ _id: string; n: number }>('lines');
    if (round === 0) await lines.createIndex({ n: 1 });
    const stored = new Map((await lines.find().toArray()).map(({ _id, n }) => [_id, n]));
    const lost = [...acknowledged].filter(([_id, n]) => (stored.get(_id) ?? -1) < n);
    t.same(lost, [], `after ${acknowledged.size} documents`);

    let writes = 0;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; ; n += 1) {
        const _id = `${round}.${writer}.${n % 20}`;
        await lines.updateOne({ _id }, { $set: { n } }, { upsert: true });
        acknowledged.set(_id, n);
        writes += 1;
      }
    });
    const ended = Promise.allSettled(writers);
    await until('many writes are acknowledged', () => writes > 200);
    owner.process.kill('SIGKILL');
    await Promise.all([client.close(), ended, owner.exited]);
  }
});
