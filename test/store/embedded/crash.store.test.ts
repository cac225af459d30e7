import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { dataFilePath } from '../../../store/embedded/server.ts';
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

t.test('loses no acknowledged write when the owner dies during a rewrite of the log', async (t) => {
  const folder = shortFolder(t);
  const text = 'x'.repeat(20_000);
  const acknowledged = new Map<number, number>();
  const file = dataFilePath(folder);
  for (let round = 0; round < 5; round += 1) {
    const owner = startOwner(t, [folder]);
    const client = await MongoClient.connect(await owner.nextLine());
    const items = client.db('crash').collection<{ _id: number; n: number; text: string }>('items');
    const stored = new Map((await items.find().toArray()).map(({ _id, n }) => [_id, n]));
    const lost = [...acknowledged].filter(([_id, n]) => (stored.get(_id) ?? -1) < n);
    t.same(lost, [], `after ${acknowledged.size} documents`);
    let isWriting = true;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; isWriting; n += 1) {
        const _id = writer * 100 + (n % 30);
        const next = (acknowledged.get(_id) ?? 0) + 1;
        await items.updateOne({ _id }, { $set: { n: next, text } }, { upsert: true });
        acknowledged.set(_id, next);
      }
    });
    const ended = Promise.allSettled(writers);
    const { ino } = await stat(file);
    // Some rounds end during a rewrite, the others after one.
    const isRewriting = () => existsSync(`${file}.new`);
    const isRewritten = async () => (await stat(file)).ino !== ino;
    if (round % 2 === 0) await until('a rewrite', isRewriting);
    else await until('a rewritten log', isRewritten);
    owner.process.kill('SIGKILL');
    isWriting = false;
    await Promise.all([client.close(), ended, owner.exited]);
  }
});
