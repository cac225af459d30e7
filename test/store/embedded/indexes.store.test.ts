import t from 'tap';
import { until } from '../../until.ts';
import { testDatabase } from '../connection.ts';
import { insertAll, testCollection, toIds } from './collection.ts';

t.test('accepts the same index again, and rejects a conflicting index', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection('items');
  t.equal(await items.createIndex({ a: 1, b: -1 }), 'a_1_b_-1');
  await items.createIndex({ a: 1 });
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 5 });
  const again = { createIndexes: 'items', indexes: [{ key: { a: 1 }, name: 'a_1' }] };
  t.match(await db.command(again), { numIndexesBefore: 4, numIndexesAfter: 4 });
  await t.rejects(items.createIndex({ a: 1 }, { name: 'other' }), { code: 85 });
  await t.rejects(items.createIndex({ b: 1 }, { name: 'a_1' }), { code: 86 });
  await t.rejects(items.createIndex({ a: 1 }, { unique: true }), { code: 86 });
  t.match(await db.command(again), { numIndexesBefore: 4, numIndexesAfter: 4 });
});

t.test('finds the current documents by an index after every change', async (t) => {
  const items = await testCollection(t);
  await items.createIndex({ a: 1, b: 1 });
  await items.createIndex({ 'c.d': 1 });
  await insertAll(items, [
    { _id: 1, a: 'x' },
    { _id: 2, a: 'x', c: { d: 1 } },
    { _id: 3, c: { d: 2 } },
    { _id: 4, a: Number.NaN },
    { _id: 5 },
    { _id: 6, a: 'y', c: { d: 1 } },
  ]);
  const ids = async (filter: object) => toIds(await items.find(filter).sort({ _id: 1 }).toArray());
  t.same(await ids({ a: 'x' }), [1, 2]);
  t.same(await ids({ a: null }), [3, 5]);
  t.same(await ids({ a: Number.NaN }), [4]);
  t.same(await ids({ a: { $gt: Number.NEGATIVE_INFINITY } }), []);
  t.same(await ids({ 'c.d': 1 }), [2, 6]);
  t.same(await ids({ 'c.d': { $in: [2, null] } }), [1, 3, 4, 5]);
  await items.updateOne({ _id: 1 }, { $set: { a: 'z' } });
  await items.updateMany({ _id: { $in: [5, 6] } }, { $set: { a: 'x' }, $unset: { c: 1 } });
  await items.deleteMany({ _id: 2 });
  t.same(await ids({ a: 'x' }), [5, 6]);
  t.same(await ids({ a: { $in: ['z', 'x', null] } }), [1, 3, 5, 6]);
  t.same(await ids({ 'c.d': 1 }), []);
});

t.test('removes only documents with an expired date', async (t) => {
  const items = await testCollection<{ _id: string; at?: unknown }>(t);
  await items.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
  const hour = 3_600_000;
  const now = Date.now();
  await insertAll(items, [
    { _id: 'due', at: new Date(now - 2 * hour) },
    { _id: 'to come', at: new Date(now) },
    { _id: 'no date', at: now - 2 * hour },
    { _id: 'null', at: null },
    { _id: 'missing' },
  ]);
  // A MongoDB server removes them once a minute.
  await until('one is removed', async () => (await items.countDocuments()) <= 4);
  const left = (await items.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  t.same(left, ['missing', 'no date', 'null', 'to come']);
});
