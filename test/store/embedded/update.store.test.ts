import type { Document } from 'mongodb';
import t from 'tap';
import { differs } from '../servers.ts';
import { insertAll, testCollection } from './collection.ts';

t.test('update operators behave as in MongoDB', async (t) => {
  const items = await testCollection<Document & { _id: number }>(t);
  const cases: [before: object, update: object, after: object, modified?: 0][] = [
    [{ a: 1 }, { $set: { a: 2, 'b.c': 3 } }, { a: 2, b: { c: 3 } }],
    [{ a: 1 }, { $set: { a: 1 } }, { a: 1 }, 0],
    [{ a: 1, b: 2 }, { $unset: { a: '', 'x.y': '' } }, { b: 2 }],
    [{ b: { c: 1, d: 2 } }, { $unset: { 'b.c': 1 } }, { b: { d: 2 } }],
    [{ a: 1 }, { $inc: { a: 2, b: -1 } }, { a: 3, b: -1 }],
    [{ a: 1 }, { $inc: { a: 0.5 } }, { a: 1.5 }],
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

t.test('a current date is the time of the update', async (t) => {
  const items = await testCollection<{ _id: number; at?: Date; and?: Date }>(t);
  await items.insertOne({ _id: 1 });
  const update = { $currentDate: { at: true, and: true } } as const;
  const found = await items.findOneAndUpdate({ _id: 1 }, update, { returnDocument: 'after' });
  t.ok(Math.abs((found?.at?.getTime() ?? 0) - Date.now()) < 60_000);
  t.same(found?.at, found?.and);
});

t.test('updateMany updates all, and reports an error midway', async (t) => {
  const items = await testCollection<Document & { _id: number }>(t);
  await insertAll(
    items,
    [1, 2, 3].map((n) => ({ _id: n, n })),
  );
  t.match(await items.updateMany({ n: { $lte: 2 } }, { $inc: { n: 10 } }), {
    matchedCount: 2,
    modifiedCount: 2,
  });
  await items.updateOne({ _id: 2 }, { $set: { n: 'text' } });
  await t.rejects(items.updateMany({}, { $inc: { n: 1 } }), { code: 14 });
});

t.test('an upsert inserts the equalities of the filter and the update', async (t) => {
  const items = await testCollection<Document & { _id: number }>(t);
  const cases: [filter: object, update: object, after: object][] = [
    [{ _id: 1, a: 'x' }, { $set: { b: 1 } }, { _id: 1, a: 'x', b: 1 }],
    [{ _id: 2 }, { $setOnInsert: { s: 1 }, $inc: { n: 5 } }, { _id: 2, n: 5, s: 1 }],
    [{ _id: 3, z: 1, 'k.l': { $eq: 2 } }, { $set: { m: 1 } }, { _id: 3, k: { l: 2 }, z: 1, m: 1 }],
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
  await t.rejects(items.updateOne({ _id: 99 }, { $set: { _id: 98 } }, { upsert: true }), {
    code: 66,
  });
});

t.test('findAndModify returns the document before or after', async (t) => {
  const items = await testCollection<Document & { _id: number }>(t);
  await insertAll(
    items,
    [3, 1, 2].map((n) => ({ _id: n, n })),
  );
  const sort = { n: 1 } as const;
  const change = { $inc: { n: 10 } };
  t.same(await items.findOneAndUpdate({}, change, { sort }), { _id: 1, n: 1 });
  t.same(await items.findOneAndUpdate({}, change, { sort, returnDocument: 'after' }), {
    _id: 2,
    n: 12,
  });
  t.same(await items.findOneAndUpdate({}, change, { sort: { n: -1 } }), { _id: 2, n: 12 });
  t.equal(await items.findOneAndUpdate({ _id: 4 }, change), null);
  t.equal(await items.findOneAndUpdate({ _id: 4 }, change, { upsert: true }), null);
  const options = { upsert: true, returnDocument: 'after', includeResultMetadata: true } as const;
  t.match(await items.findOneAndUpdate({ _id: 5 }, change, options), {
    lastErrorObject: { n: 1, updatedExisting: false, upserted: 5 },
    value: { _id: 5, n: 10 },
  });
});
