import { MongoClient } from 'mongodb';
import t from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { shortFolder } from './folder.ts';

interface Item {
  _id: number;
  name?: string;
  at?: Date;
}

t.test('documents, their order and indexes outlast a restart', async (t) => {
  const folder = shortFolder(t);
  const first = await startEmbeddedStore(folder);
  const writer = await MongoClient.connect(first.url);
  const items = writer.db('a').collection<Item>('items');
  await items.createIndex(
    { name: 1 },
    { unique: true, partialFilterExpression: { name: { $gt: '' } } },
  );
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 10_000 });
  await items.insertMany([3, 1, 2].map((_id) => ({ _id, name: `name ${_id}` })));
  await items.updateOne({ _id: 3 }, { $set: { name: 'changed' } });
  await items.deleteOne({ _id: 1 });
  await writer.db('a').collection('gone').insertOne({});
  await writer.db('a').collection('gone').drop();
  await writer.db('b').collection('empty').createIndex({ x: 1 });
  const indexes = await items.indexes();
  await writer.close();
  await first.close();

  const second = await startEmbeddedStore(folder);
  const reader = await MongoClient.connect(second.url);
  const again = reader.db('a').collection<Item>('items');
  t.same(await again.find().toArray(), [
    { _id: 3, name: 'changed' },
    { _id: 2, name: 'name 2' },
  ]);
  t.same(await again.indexes(), indexes);
  await t.rejects(again.insertOne({ _id: 9, name: 'changed' }), { code: 11000 });
  await t.resolves(again.insertOne({ _id: 1, name: 'name 1' }));
  t.same(
    (await again.find().toArray()).map(({ _id }) => _id),
    [3, 2, 1],
  );
  t.equal((await reader.db('a').listCollections().toArray()).length, 1);
  t.equal((await reader.db('b').collection('empty').indexes()).length, 2);
  const documents = await again.find().toArray();
  await reader.close();
  await second.close();

  const third = await startEmbeddedStore(folder);
  t.teardown(() => third.close());
  const last = await MongoClient.connect(third.url);
  t.teardown(() => last.close());
  t.same(await last.db('a').collection<Item>('items').find().toArray(), documents);
});

t.test('closing twice is closing once, and nobody listens afterwards', async (t) => {
  const store = await startEmbeddedStore(shortFolder(t));
  const client = await MongoClient.connect(store.url);
  await client.db('a').collection('items').insertOne({});
  await Promise.all([store.close(), store.close()]);
  await store.close();
  await client.close();
  const options = { serverSelectionTimeoutMS: 100 };
  await t.rejects(MongoClient.connect(store.url, options), { name: 'MongoServerSelectionError' });
});

t.test(
  'writes under way when the store is closed are kept when they were acknowledged',
  async (t) => {
    const folder = shortFolder(t);
    const first = await startEmbeddedStore(folder);
    const writer = await MongoClient.connect(first.url, { serverSelectionTimeoutMS: 200 });
    const items = writer.db('a').collection<Item>('items');
    const acknowledged: number[] = [];
    const writing = Array.from({ length: 200 }, async (_, _id) => {
      const done = await items.insertOne({ _id }).catch(() => null);
      if (done !== null) acknowledged.push(_id);
    });
    await writing[0];
    await first.close();
    await Promise.all(writing);
    await writer.close();

    const second = await startEmbeddedStore(folder);
    t.teardown(() => second.close());
    const reader = await MongoClient.connect(second.url);
    t.teardown(() => reader.close());
    const stored = await reader.db('a').collection<Item>('items').find().toArray();
    const ids = new Set(stored.map(({ _id }) => _id));
    t.ok(acknowledged.length > 0);
    t.same(
      acknowledged.filter((_id) => !ids.has(_id)),
      [],
    );
  },
);
