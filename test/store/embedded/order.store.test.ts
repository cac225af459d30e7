import { Double, Int32, Long, ObjectId } from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';
import { type Item, insertAll, testCollection, toIds } from './collection.ts';

/** Ascending by BSON's comparison order; values in one group are equal. */
const orderedGroups: unknown[][] = [
  [null],
  [new Double(Number.NaN)],
  [new Double(Number.NEGATIVE_INFINITY)],
  [new Double(-1e300)],
  [new Double(-(2 ** 63))],
  [new Int32(-1)],
  [new Double(0), new Double(-0), new Int32(0), Long.ZERO],
  [new Double(Number.MIN_VALUE)],
  [new Double(0.1)],
  [new Int32(1), new Double(1), Long.ONE],
  [new Int32(2147483647)],
  [Long.fromString('9007199254740991'), new Double(9007199254740991)],
  [new Double(9007199254740994)],
  [new Double(2 ** 63)],
  [new Double(Number.POSITIVE_INFINITY)],
  [''],
  ['A'],
  ['a'],
  ['a\0'],
  ['aa'],
  ['\u{e000}'],
  // Above U+E000 as a code point and in UTF-8, below it in UTF-16.
  ['\u{1f600}'],
  [new ObjectId('000000000000000000000001')],
  [new ObjectId('ff0000000000000000000000')],
  [false],
  [true],
  [new Date(-1)],
  [new Date(0)],
];

const rankedValues = orderedGroups
  .flatMap((group, rank) => group.map((value) => ({ rank, value })))
  .map((ranked, _id) => ({ _id, ...ranked }));

t.test('sorts in the comparison order', async (t) => {
  const items = await testCollection(t, [...rankedValues].reverse());
  t.same(toIds(await items.find().sort({ value: 1, _id: 1 }).toArray()), toIds(rankedValues));
  const descending = [...rankedValues].sort((a, b) => b.rank - a.rank || a._id - b._id);
  t.same(toIds(await items.find().sort({ value: -1, _id: 1 }).toArray()), toIds(descending));
});

t.test('finds the equal values by a filter, with and without an index', async (t) => {
  const { db } = await testDatabase(t);
  const [plain, indexed] = [db.collection<Item>('plain'), db.collection<Item>('indexed')];
  await indexed.createIndex({ value: 1 });
  await insertAll(plain, rankedValues);
  await insertAll(indexed, rankedValues);
  for (const { rank, value } of rankedValues) {
    for (const items of [plain, indexed]) {
      for (const filter of [{ value }, { value: { $in: [value] } }]) {
        const found = (await items.find(filter).toArray()).map((item) => item['rank']);
        t.same(new Set(found), new Set([rank]), JSON.stringify(filter));
        t.equal(found.length, orderedGroups[rank]?.length);
      }
    }
  }
});

t.test('compares numbers across types within documents and arrays', async (t) => {
  const items = await testCollection(t);
  await items.insertOne({ _id: 1, value: { a: new Int32(1), b: [new Double(2)] } });
  t.equal(await items.countDocuments({ value: { a: new Double(1), b: [Long.fromInt(2)] } }), 1);
  t.equal(await items.countDocuments({ value: { b: [2], a: 1 } }), 0, 'the order of fields counts');
});

t.test('compares only within a type in a filter', async (t) => {
  const values = [Number.NaN, 1, 'a', true, new Date(0), null, [], { a: 1 }, ['b', 7]];
  const documents = values.map((value, _id) => ({ _id, value }));
  const items = await testCollection(t, documents);
  const ids = async (value: object) =>
    toIds(await items.find({ value }).sort({ _id: 1 }).toArray());
  t.same(await ids({ $gt: Number.NEGATIVE_INFINITY }), [1, 8], 'NaN is neither above nor below');
  t.same(await ids({ $lt: 5 }), [1]);
  t.same(await ids({ $lte: Number.POSITIVE_INFINITY }), [1, 8]);
  t.same(await ids({ $gte: '' }), [2, 8]);
  t.same(await ids({ $lt: true }), []);
  t.same(await ids({ $gte: new Date(0) }), [4]);
  t.same(await ids({ $gt: new Date(0) }), []);
  t.same(await ids({ $in: [Number.NaN] }), [0]);
});
