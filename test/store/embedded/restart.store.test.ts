import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, MongoClient } from 'mongodb';
import t from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { Catalog } from '../../../store/embedded/storage/catalog.ts';
import { Journal } from '../../../store/embedded/storage/journal.ts';
import { shortFolder } from './folder.ts';

interface Item {
  _id: number;
  name?: string;
  at?: Date;
}

t.test('documents, their order and indexes survive a restart', async (t) => {
  const folder = shortFolder(t);
  const first = await startEmbeddedStore(folder);
  const writer = await MongoClient.connect(first.url);
  const items = writer.db('a').collection<Item>('items');
  await items.createIndex({ name: 1 }, { unique: true });
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 10 });
  for (const _id of [3, 1, 2]) await items.insertOne({ _id, name: `name ${_id}` });
  await items.updateOne({ _id: 3 }, { $set: { name: 'changed' } });
  await items.deleteMany({ _id: 1 });
  const gone = { _id: 7, name: 'expired', at: new Date(Date.now() - 20_000) };
  await writer.db('b').collection('empty').createIndex({ x: 1 });
  await writer.close();
  await first.close();

  const second = await startEmbeddedStore(folder);
  const reader = await MongoClient.connect(second.url);
  const again = reader.db('a').collection<Item>('items');
  t.same(await again.find().toArray(), [
    { _id: 3, name: 'changed' },
    { _id: 2, name: 'name 2' },
  ]);
  await t.rejects(again.insertOne({ _id: 9, name: 'changed' }), { code: 11000 });
  await t.resolves(again.insertOne({ _id: 1, name: 'name 1' }));
  t.same(
    (await again.find().toArray()).map(({ _id }) => _id),
    [3, 2, 1],
  );
  await t.resolves(again.insertOne(gone));
  while ((await again.findOne({ _id: 7 })) !== null) await sleep(50);
  const other = { key: { y: 1 }, name: 'x_1' };
  const changed = reader.db('b').command({ createIndexes: 'empty', indexes: [other] });
  await t.rejects(changed, { code: 86 }, 'its index is stored');
  const documents = await again.find().toArray();
  await reader.close();
  await second.close();

  const third = await startEmbeddedStore(folder);
  t.teardown(() => third.close());
  const last = await MongoClient.connect(third.url);
  t.teardown(() => last.close());
  t.same(await last.db('a').collection<Item>('items').find().toArray(), documents);
});

t.test('a file of an earlier version is read; unsupported indexes in it are refused', async (t) => {
  const write = async (index: object) => {
    const file = join(shortFolder(t), 'documents.lmdb');
    const journal = new Journal(file, () => {});
    journal.put([0, 0], BSON.serialize({ format: 1 }));
    journal.put([0, 1], BSON.serialize({ namespace: 'a.items', indexes: [index] }));
    journal.put([1, 1], BSON.serialize({ _id: 1, a: 'x' }));
    await journal.close();
    return file;
  };
  const index = { v: 2, key: { a: 1 }, name: 'a_1', unique: true };
  const catalog = new Catalog(await write(index));
  const items = catalog.get('a.items');
  t.throws(() => items?.insert({ a: 'x' }), { code: 11000 });
  t.equal(items?.insert({ a: 'y' })['a'], 'y');
  await catalog.journal.close();
  const partial = { ...index, partialFilterExpression: { b: 1 } };
  const file = await write(partial);
  t.throws(() => new Catalog(file), { code: 115, message: /partialFilterExpression/ });
});

t.test('close can be called twice, and ends the listener', async (t) => {
  const store = await startEmbeddedStore(shortFolder(t));
  const client = await MongoClient.connect(store.url);
  await client.db('a').collection('items').insertOne({});
  await Promise.all([store.close(), store.close()]);
  await store.close();
  await client.close();
  const options = { serverSelectionTimeoutMS: 100 };
  await t.rejects(MongoClient.connect(store.url, options), { name: 'MongoServerSelectionError' });
});

t.test('acknowledged writes during the close are stored', async (t) => {
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
});
