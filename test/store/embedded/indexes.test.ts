import t from 'tap';
import { testDatabase } from '../connection.ts';

t.test('indexes are listed as they were made', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection('items');
  await t.rejects(items.indexes(), { code: 26 }, 'there is no collection yet');
  t.equal(await items.createIndex({ a: 1, b: -1 }), 'a_1_b_-1');
  await items.createIndex({ expire: -1 }, { expireAfterSeconds: 0 });
  await items.createIndex({ a: 1 }, { unique: true, partialFilterExpression: { b: true } });
  t.same(await items.indexes(), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { a: 1, b: -1 }, name: 'a_1_b_-1' },
    { v: 2, key: { expire: -1 }, name: 'expire_-1', expireAfterSeconds: 0 },
    { v: 2, key: { a: 1 }, name: 'a_1', unique: true, partialFilterExpression: { b: true } },
  ]);
});

t.test('making an index again is nothing, making another of its kind an error', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection('items');
  await items.createIndex({ a: 1 });
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 5 });
  t.equal(await items.createIndex({ a: 1 }), 'a_1');
  t.equal(await items.createIndex({ _id: 1 }), '_id_1');
  await t.rejects(items.createIndex({ a: 1 }, { name: 'other' }), { code: 85 });
  await t.rejects(items.createIndex({ b: 1 }, { name: 'a_1' }), { code: 86 });
  await t.rejects(items.createIndex({ a: 1 }, { unique: true }), { code: 86 });
  await t.rejects(items.createIndex({ at: 1 }, { expireAfterSeconds: 6 }), { code: 85 });
  t.equal((await items.indexes()).length, 3);
});

t.test('indexes are dropped by name, by key, or all but that of _id', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ a: number }>('items');
  await items.createIndex({ a: 1 }, { unique: true });
  await items.createIndex({ b: 1 });
  await items.createIndex({ c: 1 });
  await items.dropIndex('a_1');
  await t.resolves(items.insertMany([{ a: 1 }, { a: 1 }]), 'no longer unique');
  await db.command({ dropIndexes: 'items', index: { b: 1 } });
  t.equal((await items.indexes()).length, 2);
  await items.dropIndexes();
  t.equal((await items.indexes()).length, 1);
  await t.rejects(items.dropIndex('a_1'), { code: 27 });
  await t.rejects(items.dropIndex('_id_'), { code: 72 });
  await t.rejects(db.command({ dropIndexes: 'none', index: 'a_1' }), { code: 26 });
});

t.test('a TTL index is on one field, and not on _id', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection('items');
  await t.rejects(items.createIndex({ a: 1, b: 1 }, { expireAfterSeconds: 1 }), { code: 67 });
  await t.rejects(items.createIndex({ a: 1 }, { expireAfterSeconds: -1 }), { code: 67 });
});

t.test('documents expire when their time has come, and others do not', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: string; at?: unknown }>('items');
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
  const hour = 3_600_000;
  const now = Date.now();
  await items.insertMany([
    { _id: 'due', at: new Date(now - 2 * hour) },
    { _id: 'due by its earliest', at: [new Date(now + hour), new Date(now - 2 * hour)] },
    { _id: 'to come', at: new Date(now) },
    { _id: 'no date', at: now - 2 * hour },
    { _id: 'null', at: null },
    { _id: 'missing' },
  ]);
  // A MongoDB server sweeps once a minute.
  const patience = Date.now() + 90_000;
  while ((await items.countDocuments()) > 4 && Date.now() < patience) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const left = await items.find().sort({ _id: 1 }).toArray();
  t.same(
    left.map(({ _id }) => _id),
    ['missing', 'no date', 'null', 'to come'],
  );
});

t.test('of several indexes at once all are made or none', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ a: number }>('items');
  await items.insertMany([{ a: 1 }, { a: 1 }]);
  const both = [{ key: { b: 1 } }, { key: { a: 1 }, unique: true }];
  await t.rejects(items.createIndexes(both), { code: 11000 });
  t.equal((await items.indexes()).length, 1);
});
