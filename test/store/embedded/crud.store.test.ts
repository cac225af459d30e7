import { ObjectId } from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';
import { type Item, testCollection, toIds } from './collection.ts';

const things: Item[] = [
  { _id: 1, name: 'anvil', size: 30, tags: ['iron', 'heavy'], owner: { name: 'Wile' } },
  { _id: 2, name: 'Balloon (a)', size: 3, tags: [], owner: null },
  { _id: 3, name: 'cup', size: 3, parts: [{ kind: 'handle', weight: 2 }, { kind: 'bowl' }] },
  { _id: 4, size: 100, tags: ['iron'], grid: [[1, 2, 3]] },
];

t.test('finds the same documents by filters as MongoDB', async (t) => {
  const items = await testCollection(t, things);
  const cases: [filter: object, ids: number[]][] = [
    [{}, [1, 2, 3, 4]],
    [{ size: 3 }, [2, 3]],
    [{ tags: 'iron' }, [1, 4]],
    [{ tags: ['iron'] }, [4]],
    [{ tags: [] }, [2]],
    [{ name: null }, [4]],
    [{ name: { $ne: null } }, [1, 2, 3]],
    [{ owner: null }, [2, 3, 4]],
    [{ owner: { name: 'Wile' } }, [1]],
    [{ 'owner.name': 'Wile' }, [1]],
    [{ 'owner.name': null }, [2, 3, 4]],
    [{ 'parts.kind': 'bowl' }, [3]],
    [{ 'parts.weight': { $gt: 1 } }, [3]],
    [{ 'parts.weight': null }, [1, 2, 3, 4]],
    [{ parts: { kind: 'bowl' } }, [3]],
    [{ grid: [1, 2, 3] }, [4]],
    [{ grid: 2 }, []],
    [{ tags: { $ne: 'iron' } }, [2, 3]],
    [{ size: { $in: [100, 30] } }, [1, 4]],
    [{ tags: { $in: ['heavy', null] } }, [1, 3]],
    [{ size: { $in: [] } }, []],
    [{ size: { $nin: [100, 30] } }, [2, 3]],
    [{ tags: { $nin: ['heavy', null] } }, [2, 4]],
    [{ 'owner.name': { $nin: ['Wile'] } }, [2, 3, 4]],
    [{ size: { $nin: [] } }, [1, 2, 3, 4]],
    [{ size: { $gt: 3, $lt: 100 } }, [1]],
    [{ size: { $gte: 3, $lte: 3 } }, [2, 3]],
    [{ size: { $gt: 'a' } }, []],
    [{ $or: [{ size: 100 }, { name: 'cup' }] }, [3, 4]],
    [{ $or: [{ size: 3 }, { size: 30 }], name: 'cup' }, [3]],
    [{ name: { $regex: 'BALL', $options: 'i' } }, [2]],
    [{ name: { $regex: '\\(A\\)', $options: 'i' } }, [2]],
    [{ tags: { $regex: 'iron', $options: 'i' } }, [1, 4]],
    [{ size: { $regex: '3', $options: 'i' } }, []],
    [{ constructor: { $ne: null } }, []],
  ];
  for (const [filter, ids] of cases) {
    const found = await items.find(filter).toArray();
    t.same(toIds(found).sort(), ids, JSON.stringify(filter));
    t.equal(await items.countDocuments(filter), ids.length);
  }
});

t.test('sorts, limits and projects results', async (t) => {
  const items = await testCollection(t, things);
  const ids = async (sort: Record<string, 1 | -1>, skip = 0, limit = 0) =>
    toIds(await items.find().sort(sort).skip(skip).limit(limit).toArray());
  t.same(await ids({ _id: -1 }), [4, 3, 2, 1]);
  t.same(await ids({ size: 1, _id: -1 }), [3, 2, 1, 4]);
  t.same(await ids({ size: -1, _id: 1 }, 1, 2), [1, 2]);
  t.same(await ids({ name: 1 }), [4, 2, 1, 3], 'missing fields come first');
  t.same(await ids({ size: 1 }), [2, 3, 1, 4], 'equals stay in natural order');

  const project = (projection: object, _id: number) => items.findOne({ _id }, { projection });
  t.strictSame(await project({ name: 1 }, 1), { _id: 1, name: 'anvil' });
  const several = { _id: 1, name: 'anvil', size: 30 };
  t.strictSame(await project({ size: 1, name: 1, none: 1 }, 1), several);
  t.strictSame(await project({ _id: 1 }, 3), { _id: 3 });
});

t.test('deletes all matching documents', async (t) => {
  const items = await testCollection(t, things);
  t.match(await items.deleteMany({ size: 3 }), { deletedCount: 2 });
  t.match(await items.deleteMany({ size: 3 }), { deletedCount: 0 });
  t.equal(await items.countDocuments(), 2);
});

t.test("counts documents and lists a field's values by aggregation", async (t) => {
  const items = await testCollection(t, things);
  const match = { $match: { _id: { $lt: 4 } } };
  const by = async (field: string) => {
    const groups = items.aggregate([match, { $group: { _id: field, n: { $sum: 1 } } }]);
    // The order of groups is undefined.
    return (await groups.toArray()).sort((left, other) => left['n'] - other['n']);
  };
  t.strictSame(await by('$size'), [
    { _id: 30, n: 1 },
    { _id: 3, n: 2 },
  ]);
  t.strictSame(await by('$owner'), [
    { _id: { name: 'Wile' }, n: 1 },
    { _id: null, n: 2 },
  ]);
});

t.test('treats a missing collection as empty', async (t) => {
  const items = await testCollection(t);
  t.same(await items.find().toArray(), []);
  t.same(await items.aggregate([{ $group: { _id: 1 } }]).toArray(), []);
  t.equal(await items.countDocuments(), 0);
  t.match(await items.deleteMany({}), { deletedCount: 0 });
});

t.test('adds an _id to an inserted document', async (t) => {
  const { db } = await testDatabase(t);
  await db.command({ insert: 'items', documents: [{ a: 1 }] });
  const found = await db.collection('items').findOne({});
  t.same(Object.keys(found ?? {}), ['_id', 'a']);
  t.ok(found?._id instanceof ObjectId);
});
