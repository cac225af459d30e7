import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import t from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { Catalog } from '../../../store/embedded/storage/collection.ts';
import { Log } from '../../../store/embedded/storage/log.ts';
import { until } from '../../until.ts';
import { toIds } from './collection.ts';
import { shortFolder, withStore } from './stores.ts';

t.test('keeps documents, their order and indexes over a restart', async (t) => {
  const folder = shortFolder(t);
  await withStore(folder, async (items) => {
    await items.createIndex({ name: 1 }, { unique: true });
    await items.createIndex({ at: 1 }, { expireAfterSeconds: 10 });
    for (const _id of [3, 1, 2]) await items.insertOne({ _id, name: `name ${_id}` });
    await items.updateOne({ _id: 3 }, { $set: { name: 'changed' } });
    await items.deleteMany({ _id: 1 });
  });
  const documents = await withStore(folder, async (items) => {
    t.same(await items.find().toArray(), [
      { _id: 3, name: 'changed' },
      { _id: 2, name: 'name 2' },
    ]);
    await t.rejects(items.insertOne({ _id: 9, name: 'changed' }), { code: 11000 });
    await t.resolves(items.insertOne({ _id: 1, name: 'name 1' }));
    t.same(toIds(await items.find().toArray()), [3, 2, 1]);
    await items.insertOne({ _id: 7, name: 'expired', at: new Date(Date.now() - 20_000) });
    await until('it is removed', async () => (await items.countDocuments({ _id: 7 })) === 0);
    await t.rejects(items.createIndex({ other: 1 }, { name: 'at_1' }), { code: 86 });
    return items.find().toArray();
  });
  t.same(await withStore(folder, (items) => items.find().toArray()), documents);
});

t.test('reads a file, and fails on unsupported indexes in it', async (t) => {
  const write = async (index: object) => {
    const file = join(shortFolder(t), 'documents.log');
    const log = new Log(
      file,
      () => {},
      () => [],
    );
    for (const change of [{ index }, { put: { _id: 1, a: 'x' } }]) {
      log.append({ in: 'a.items', ...change });
    }
    await log.close();
    return file;
  };
  const index = { key: { a: 1 }, name: 'a_1', unique: true };
  const catalog = new Catalog(await write(index));
  const items = catalog.get('a.items');
  t.throws(() => items?.insert({ a: 'x' }), { code: 11000 });
  t.equal(items?.insert({ a: 'y' })['a'], 'y');
  await catalog.log.close();
  const file = await write({ ...index, partialFilterExpression: { b: 1 } });
  t.throws(() => new Catalog(file), { code: 115, message: /partialFilterExpression/ });
});

t.test('accepts a second close, and ends the listener', async (t) => {
  const store = await startEmbeddedStore(shortFolder(t));
  await Promise.all([store.close(), store.close()]);
  await store.close();
  const options = { serverSelectionTimeoutMS: 100 };
  await t.rejects(MongoClient.connect(store.url, options), { name: 'MongoServerSelectionError' });
});

t.test('stores acknowledged writes during the close', async (t) => {
  const folder = shortFolder(t);
  const acknowledged: number[] = [];
  await withStore(folder, async (items, store) => {
    const writing = Array.from({ length: 200 }, async (_, _id) => {
      const done = await items.insertOne({ _id }).catch(() => null);
      if (done !== null) acknowledged.push(_id);
    });
    await writing[0];
    await store.close();
    // Fails the other writes, which would wait for another store.
    await items.db.client.close();
    await Promise.all(writing);
  });
  t.ok(acknowledged.length > 0);
  const stored = new Set(
    await withStore(folder, async (items) => toIds(await items.find().toArray())),
  );
  t.same(
    acknowledged.filter((_id) => !stored.has(_id)),
    [],
  );
});
