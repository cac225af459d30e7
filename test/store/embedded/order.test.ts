import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';

const decimal = (text: string) => Decimal128.fromString(text);
const binary = (bytes: number[], type = 0) => new Binary(Buffer.from(bytes), type);

/** Ascending by BSON's comparison order; values in one group are equal. */
const ORDERED: unknown[][] = [
  [new MinKey()],
  [[]],
  [null],
  [new Double(Number.NaN), decimal('NaN')],
  [new Double(Number.NEGATIVE_INFINITY), decimal('-Infinity')],
  [decimal('-1E6000')],
  [new Double(-1e300)],
  [Long.MIN_VALUE, new Double(-(2 ** 63)), decimal('-9223372036854775808')],
  [new Int32(-1), decimal('-1.000')],
  [new Double(0), new Double(-0), new Int32(0), Long.ZERO, decimal('-0E+3')],
  [decimal('1E-6000')],
  [new Double(Number.MIN_VALUE)],
  [decimal('0.1')],
  // The double nearest to a tenth is a little more than a tenth.
  [new Double(0.1)],
  [new Double(0.5), decimal('0.50')],
  [new Int32(1), new Double(1), Long.ONE, decimal('1')],
  [new Int32(2147483647)],
  [Long.fromString('9007199254740992'), new Double(9007199254740992)],
  [Long.fromString('9007199254740993'), decimal('9007199254740993')],
  [new Double(9007199254740994)],
  [Long.MAX_VALUE],
  [new Double(2 ** 63)],
  [decimal('1E6000')],
  [new Double(Number.POSITIVE_INFINITY), decimal('Infinity')],
  ['', new BSONSymbol('')],
  ['A'],
  ['a', new BSONSymbol('a')],
  ['a\0'],
  ['aa'],
  ['\u{e000}'],
  // Above U+E000 as a code point and in UTF-8, below it in UTF-16.
  ['\u{1f600}'],
  [{}],
  [{ a: 1 }],
  [{ a: 1, b: 0 }],
  [{ a: 2 }],
  [{ b: 1 }],
  [{ a: 'x' }],
  [binary([])],
  [binary([255])],
  [binary([0], 5)],
  [binary([0, 0])],
  [new ObjectId('000000000000000000000001')],
  [new ObjectId('ff0000000000000000000000')],
  [false],
  [true],
  [new Date(-1)],
  [new Date(0)],
  [new Timestamp({ t: 1, i: 2 })],
  [new Timestamp({ t: 4294967295, i: 0 })],
  [new BSONRegExp('a')],
  [new BSONRegExp('a', 'i')],
  [new BSONRegExp('b')],
  [new Code('a')],
  [new Code('b')],
  [new Code('a', { x: 1 })],
  [new Code('a', { x: 2 })],
  [new MaxKey()],
];

t.test('sorting follows the comparison order of all BSON types', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: number; rank?: number; value: unknown }>('items');
  const values = ORDERED.flatMap((group, rank) => group.map((value) => ({ value, rank })));
  const documents = values.map(({ value, rank }, i) => ({ _id: i, rank, value }));
  await items.insertMany([...documents].reverse());
  const ranks = (await items.find().sort({ value: 1 }).toArray()).map(({ rank }) => rank);
  t.same(
    ranks,
    values.map(({ rank }) => rank),
  );
  const down = (await items.find().sort({ value: -1, _id: 1 }).toArray()).map(({ _id }) => _id);
  const expected = [...documents].sort((a, b) => b.rank - a.rank || a._id - b._id);
  t.same(
    down,
    expected.map(({ _id }) => _id),
  );
});

t.test('inside documents and arrays values compare alike, and equal numbers are one', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: number; rank?: number; value: unknown }>('items');
  await items.insertOne({ _id: 1, value: { a: new Int32(1), b: [new Double(2)] } });
  t.equal(await items.countDocuments({ value: { a: new Double(1), b: [Long.fromInt(2)] } }), 1);
  t.equal(await items.countDocuments({ value: { b: [2], a: 1 } }), 0, 'the order of fields counts');
  t.equal(await items.countDocuments({ value: { $lt: { a: 1, b: [3] } } }), 1);
});

t.test('comparisons in a filter stay within a type', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: number; rank?: number; value: unknown }>('items');
  const values = [Number.NaN, 1, 'a', true, new Date(0), null, [], { a: 1 }, new MaxKey()];
  await items.insertMany(values.map((value, _id) => ({ _id, value })));
  const ids = async (value: object) =>
    (await items.find({ value }).sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  t.same(await ids({ $gt: Number.NEGATIVE_INFINITY }), [1], 'NaN is neither above nor below');
  t.same(await ids({ $lt: 5 }), [1]);
  t.same(await ids({ $lte: Number.NaN }), [0]);
  t.same(await ids({ $gte: '' }), [2]);
  t.same(await ids({ $lt: true }), []);
  t.same(await ids({ $lte: null }), [5]);
  t.same(await ids({ $gt: new MinKey() }), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  t.same(await ids({ $lt: new MaxKey() }), [0, 1, 2, 3, 4, 5, 6, 7]);
  t.same(await ids({ $gte: [] }), [6]);
});
