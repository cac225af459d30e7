import t from 'tap';
import { testDatabase } from '../connection.ts';

interface Thing {
  _id: number;
  name?: string;
  size?: number;
  tags?: string[];
  parts?: { kind: string; weight?: number }[];
  owner?: { name: string } | null;
  grid?: number[][];
}

const THINGS: Thing[] = [
  { _id: 1, name: 'anvil', size: 30, tags: ['iron', 'heavy'], owner: { name: 'Wile' } },
  { _id: 2, name: 'balloon', size: 3, tags: [], owner: null },
  { _id: 3, name: 'cup', size: 3, parts: [{ kind: 'handle', weight: 2 }, { kind: 'bowl' }] },
  { _id: 4, size: 100, tags: ['iron'], grid: [[1, 2, 3]] },
];

t.test('a filter finds what MongoDB would', async (t) => {
  const { db } = await testDatabase(t);
  const things = db.collection<Thing>('things');
  await things.insertMany(THINGS);
  const cases: [filter: object, ids: number[]][] = [
    [{}, [1, 2, 3, 4]],
    [{ size: 3 }, [2, 3]],
    [{ tags: 'iron' }, [1, 4]],
    [{ tags: ['iron'] }, [4]],
    [{ tags: [] }, [2]],
    [{ name: null }, [4]],
    [{ owner: null }, [2, 3, 4]],
    [{ owner: { $exists: true } }, [1, 2]],
    [{ owner: { $exists: false } }, [3, 4]],
    [{ 'owner.name': 'Wile' }, [1]],
    [{ 'owner.name': null }, [2, 3, 4]],
    [{ 'parts.kind': 'bowl' }, [3]],
    [{ 'parts.weight': { $gt: 1 } }, [3]],
    [{ 'parts.weight': null }, [1, 2, 3, 4]],
    [{ parts: { $elemMatch: { kind: 'bowl', weight: 2 } } }, []],
    [{ parts: { $elemMatch: { kind: 'handle', weight: { $gte: 2 } } } }, [3]],
    [{ parts: { kind: 'bowl' } }, [3]],
    [{ tags: { $all: ['heavy', 'iron'] } }, [1]],
    [{ tags: { $size: 1 } }, [4]],
    [{ grid: { $size: 1 } }, [4]],
    [{ grid: { $size: 3 } }, []],
    [{ grid: [1, 2, 3] }, [4]],
    [{ grid: 2 }, []],
    [{ grid: { $elemMatch: { $gt: 1 } } }, []],
    [{ grid: { $elemMatch: { $gt: [1] } } }, [4]],
    [{ tags: { $elemMatch: { $gt: 'h', $lt: 'i' } } }, [1]],
    [{ tags: { $ne: 'iron' } }, [2, 3]],
    [{ tags: { $nin: ['heavy', null] } }, [2, 4]],
    [{ size: { $in: [100, 30] } }, [1, 4]],
    [{ size: { $gt: 3, $lt: 100 } }, [1]],
    [{ size: { $gte: 3, $lte: 3 } }, [2, 3]],
    [{ size: { $gt: 'a' } }, []],
    [{ size: { $not: { $gt: 3 } } }, [2, 3]],
    [{ name: { $gte: null } }, [4]],
    [{ $or: [{ size: 100 }, { name: 'cup' }] }, [3, 4]],
    [{ $and: [{ size: 3 }, { tags: { $exists: true } }] }, [2]],
    [{ $nor: [{ size: 3 }, { size: 30 }] }, [4]],
    [{ name: { $regex: '^B', $options: 'i' } }, [2]],
    [{ name: /nvi/ }, [1]],
    [{ name: { $in: [/^a/, 'cup'] } }, [1, 3]],
    [{ name: { $not: /a/ } }, [3, 4]],
    [{ tags: { $type: 'array' } }, [1, 2, 4]],
    [{ size: { $type: ['int', 'string'] } }, [1, 2, 3, 4]],
    [{ constructor: { $exists: true } }, []],
  ];
  for (const [filter, ids] of cases) {
    const found = await things.find(filter).toArray();
    t.same(found.map(({ _id }) => _id).sort(), ids, JSON.stringify(filter));
    t.equal(await things.countDocuments(filter), ids.length);
  }
});

t.test('results are sorted, cut and projected', async (t) => {
  const { db } = await testDatabase(t);
  const things = db.collection<Thing>('things');
  await things.insertMany(THINGS);
  const names = async (sort: [string, 1 | -1][], skip = 0, limit = 0) =>
    (await things.find().sort(sort).skip(skip).limit(limit).toArray()).map(({ _id }) => _id);
  t.same(
    await names([
      ['size', 1],
      ['_id', -1],
    ]),
    [3, 2, 1, 4],
  );
  t.same(
    await names(
      [
        ['size', -1],
        ['_id', 1],
      ],
      1,
      2,
    ),
    [1, 2],
  );
  t.same(
    await names([
      ['tags', 1],
      ['_id', 1],
    ]),
    [2, 3, 1, 4],
    'by the least element, [] first',
  );
  t.same(
    await names([
      ['tags', -1],
      ['_id', 1],
    ]),
    [1, 4, 3, 2],
    'by the greatest element',
  );

  const project = async (projection: object, _id: number) =>
    things.findOne({ _id }, { projection });
  t.strictSame(await project({ name: 1 }, 1), { _id: 1, name: 'anvil' });
  t.strictSame(await project({ 'owner.name': true, _id: 0 }, 1), { owner: { name: 'Wile' } });
  t.strictSame(await project({ 'parts.kind': 1 }, 3), {
    _id: 3,
    parts: [{ kind: 'handle' }, { kind: 'bowl' }],
  });
  t.strictSame(await project({ parts: 0, size: 0 }, 3), { _id: 3, name: 'cup' });
  t.strictSame(await project({ 'parts.weight': 0, name: 0, size: 0 }, 3), {
    _id: 3,
    parts: [{ kind: 'handle' }, { kind: 'bowl' }],
  });
  t.strictSame(await project({ _id: 1 }, 3), { _id: 3 });
});

t.test('documents are deleted one at a time or all together', async (t) => {
  const { db } = await testDatabase(t);
  const things = db.collection<Thing>('things');
  await things.insertMany(THINGS);
  t.match(await things.deleteOne({ size: 3 }), { deletedCount: 1 });
  t.match(await things.deleteMany({ size: 3 }), { deletedCount: 1 });
  t.match(await things.deleteMany({ size: 3 }), { deletedCount: 0 });
  t.match(await things.findOneAndDelete({}, { sort: { size: -1 } }), { _id: 4 });
  t.equal(await things.findOneAndDelete({ _id: 4 }), null);
  t.equal(await things.estimatedDocumentCount(), 1);
});

t.test('aggregation groups and counts', async (t) => {
  const { db } = await testDatabase(t);
  const things = db.collection<Thing>('things');
  await things.insertMany(THINGS);
  const groups = await things
    .aggregate([
      { $match: { _id: { $lt: 4 } } },
      { $group: { _id: '$size', n: { $sum: 1 } } },
      { $sort: { _id: -1 } },
    ])
    .toArray();
  t.strictSame(groups, [
    { _id: 30, n: 1 },
    { _id: 3, n: 2 },
  ]);
  t.strictSame(
    await things.aggregate([{ $group: { _id: '$owner' } }, { $sort: { _id: 1 } }]).toArray(),
    [{ _id: null }, { _id: { name: 'Wile' } }],
    'a missing field groups with null',
  );
  t.equal(await things.countDocuments({}, { skip: 1, limit: 2 }), 2);
});

t.test('collections and databases come and go', async (t) => {
  const { db } = await testDatabase(t);
  await db.collection('one').insertOne({});
  await db.collection('two').insertOne({});
  const names = async () =>
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).sort();
  t.same(await names(), ['one', 'two']);
  await db.collection('one').drop();
  t.same(await names(), ['two']);
  t.equal(await db.collection('one').countDocuments(), 0);
  await db.dropDatabase();
  t.same(await names(), []);
});
