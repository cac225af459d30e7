import { MongoClient } from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';
import { differs } from '../servers.ts';
import { type Item, insertAll, testCollection } from './collection.ts';

t.test('applies update operators like MongoDB', async (t) => {
  const items = await testCollection(t);
  const cases: [before: object, update: object, after: object, modified?: 0][] = [
    [{ a: 1 }, { $set: { a: 2, 'b.c': 3 } }, { a: 2, b: { c: 3 } }],
    [{ a: 1 }, { $set: { a: 1 } }, { a: 1 }, 0],
    [{ a: 1, b: 2 }, { $unset: { a: '', 'x.y': '' } }, { b: 2 }],
    [{ b: { c: 1, d: 2 } }, { $unset: { 'b.c': 1 } }, { b: { d: 2 } }],
    [{ a: 1 }, { $inc: { a: 2, b: -1 } }, { a: 3, b: -1 }],
    [{ a: 1 }, { $inc: { a: 0.5 } }, { a: 1.5 }],
    [{ a: 1, b: 3 }, { $max: { a: 2, b: 2.5, 'c.d': 4 } }, { a: 2, b: 3, c: { d: 4 } }],
    [{ a: 2.5 }, { $max: { a: 2 } }, { a: 2.5 }, 0],
    [{ a: 1 }, { $setOnInsert: { b: 1 } }, { a: 1 }, 0],
    [{ a: ['x'] }, { $addToSet: { a: 'y' } }, { a: ['x', 'y'] }],
    [{ a: ['x'] }, { $addToSet: { a: 'x' } }, { a: ['x'] }, 0],
    [{}, { $addToSet: { a: 'y' } }, { a: ['y'] }],
    [{ a: [['x'], { x: 1 }, 1] }, { $addToSet: { a: 'x' } }, { a: [['x'], { x: 1 }, 1, 'x'] }],
    [{ a: ['x', 'y', 'x'] }, { $pull: { a: 'x' } }, { a: ['y'] }],
    [{ a: ['x'] }, { $pull: { a: 'y', b: 'x' } }, { a: ['x'] }, 0],
    [{ z: 1 }, { $set: { y: 1 }, $inc: { b: 1 } }, { z: 1, b: 1, y: 1 }],
  ];
  const unordered = await differs('addedFields');
  for (const [i, [before, update, after, modified = 1]] of cases.entries()) {
    await items.insertOne({ _id: i, ...before });
    const result = await items.updateOne({ _id: i }, update);
    t.match(result, { matchedCount: 1, modifiedCount: modified }, JSON.stringify(update));
    const stored = await items.findOne({ _id: i });
    t.strictSame(stored, { _id: i, ...after });
    const names = ['_id', ...Object.keys(after)];
    t.same(Object.keys(stored ?? {}), names, 'fields in order', {
      skip: Object.keys(update).length > 1 && unordered,
    });
  }
});

t.test('sets a current date to the time of the update', async (t) => {
  const items = await testCollection(t, [{ _id: 1 }]);
  const update = { $currentDate: { first: true, second: true } } as const;
  const found = await items.findOneAndUpdate({ _id: 1 }, update, { returnDocument: 'after' });
  t.ok(Math.abs(Number(found?.['first']) - Date.now()) < 60_000);
  t.same(found?.['first'], found?.['second']);
});

t.test('updates all documents in updateMany, and reports an error midway', async (t) => {
  const documents = [1, 2, 3].map((n) => ({ _id: n, n }));
  const items = await testCollection(t, documents);
  const updated = await items.updateMany({ n: { $lte: 2 } }, { $inc: { n: 10 } });
  t.match(updated, { matchedCount: 2, modifiedCount: 2 });
  await items.updateOne({ _id: 2 }, { $set: { n: 'text' } });
  await t.rejects(items.updateMany({}, { $inc: { n: 1 } }), { code: 14 });
});

t.test('inserts the equalities of the filter and the update in an upsert', async (t) => {
  const items = await testCollection(t);
  const cases: [filter: object, update: object, after: object][] = [
    [{ _id: 1, a: 'x' }, { $set: { b: 1 } }, { _id: 1, a: 'x', b: 1 }],
    [{ _id: 2 }, { $setOnInsert: { s: 1 }, $inc: { n: 5 } }, { _id: 2, n: 5, s: 1 }],
    [{ _id: 3, z: 1, 'k.l': 2 }, { $set: { m: 1 } }, { _id: 3, k: { l: 2 }, z: 1, m: 1 }],
    [{ _id: 4, n: { $gt: 9 }, o: { $ne: 7 } }, { $inc: { n: 1 } }, { _id: 4, n: 1 }],
    [{ _id: 5, a: null }, { $set: { b: 1 } }, { _id: 5, a: null, b: 1 }],
    [{ _id: 8, 'a.b': 1 }, { $setOnInsert: { a: { c: 2 } } }, { _id: 8, a: { c: 2 } }],
    [{ $or: [{ a: 1 }, { a: 2 }], _id: 6 }, { $set: { b: 1 } }, { _id: 6, b: 1 }],
  ];
  for (const [filter, update, after] of cases) {
    const result = await items.updateOne(filter, update, { upsert: true });
    t.match(result, { matchedCount: 0, upsertedCount: 1 }, JSON.stringify(filter));
    t.strictSame(await items.findOne({ _id: Number(result.upsertedId) }), after);
  }
  const made = await items.updateOne({ n: 77 }, { $set: { m: 1 } }, { upsert: true });
  t.match(await items.findOne({ n: 77 }), { _id: made.upsertedId, m: 1 });
  const otherId = items.updateOne({ _id: 99 }, { $set: { _id: 98 } }, { upsert: true });
  await t.rejects(otherId, { code: 66 });
});

t.test('returns the document before or after findAndModify', async (t) => {
  const documents = [3, 1, 2].map((n) => ({ _id: n, n }));
  const items = await testCollection(t, documents);
  const sort = { n: 1 } as const;
  const change = { $inc: { n: 10 } };
  t.same(await items.findOneAndUpdate({}, change, { sort }), { _id: 1, n: 1 });
  const after = await items.findOneAndUpdate({}, change, { sort, returnDocument: 'after' });
  t.same(after, { _id: 2, n: 12 });
  t.same(await items.findOneAndUpdate({}, change, { sort: { n: -1 } }), { _id: 2, n: 12 });
  t.equal(await items.findOneAndUpdate({ _id: 4 }, change), null);
  t.equal(await items.findOneAndUpdate({ _id: 4 }, change, { upsert: true }), null);
  const options = { upsert: true, returnDocument: 'after', includeResultMetadata: true } as const;
  t.match(await items.findOneAndUpdate({ _id: 5 }, change, options), {
    lastErrorObject: { n: 1, updatedExisting: false, upserted: 5 },
    value: { _id: 5, n: 10 },
  });
});

t.test('lets concurrent clients claim each document exactly once', async (t) => {
  const { db, url } = await testDatabase(t);
  const tasks = Array.from({ length: 300 }, (_, _id) => ({ _id, owner: null, rank: 300 - _id }));
  await insertAll(db.collection<Item>('tasks'), tasks);
  const claimAll = async (owner: number): Promise<number[]> => {
    const client = await MongoClient.connect(url);
    t.teardown(() => client.close());
    const items = client.db(db.databaseName).collection<Item>('tasks');
    const ids: number[] = [];
    for (;;) {
      const change = { $set: { owner } };
      const task = await items.findOneAndUpdate({ owner: null }, change, { sort: { rank: 1 } });
      if (task === null) return ids;
      ids.push(task._id);
    }
  };
  const claimed = await Promise.all([1, 2, 3, 4].map(claimAll));
  t.same(
    claimed.flat().sort((a, b) => a - b),
    tasks.map(({ _id }) => _id),
  );
});

t.test('updates several documents in a command, and reports failing statements', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<Item>('items');
  const add = (_id: number, more: object = {}) => ({ q: { _id }, u: { $inc: { n: 1 } }, ...more });
  const fails = { q: { _id: 1 }, u: { $inc: { text: 1 } } };
  const update = (updates: object[], ordered?: boolean) =>
    db.command({ update: 'items', updates, ...(ordered === undefined ? {} : { ordered }) });
  const inserted = await update([1, 2].map((id) => add(id, { upsert: true })));
  const upserted = [
    { index: 0, _id: 1 },
    { index: 1, _id: 2 },
  ];
  t.match(inserted, { n: 2, nModified: 0, upserted });
  await items.updateOne({ _id: 1 }, { $set: { text: 'x' } });
  t.match(await update([add(1), fails, add(2)], false), {
    n: 2,
    nModified: 2,
    writeErrors: [{ index: 1, code: 14 }],
  });
  t.match(await update([add(1), fails, add(2)]), { n: 1, writeErrors: [{ index: 1 }] });
  t.same(await items.find({}).sort({ _id: 1 }).toArray(), [
    { _id: 1, n: 3, text: 'x' },
    { _id: 2, n: 2 },
  ]);
});
