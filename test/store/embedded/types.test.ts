import {
  Binary,
  BSON,
  BSONRegExp,
  Code,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';

/** Reads values with their BSON types, numbers included. */
const EXACT = { promoteValues: false, promoteLongs: false, bsonRegExp: true } as const;

const VALUES = {
  double: new Double(5),
  negativeZero: new Double(-0),
  nan: new Double(Number.NaN),
  int32: new Int32(5),
  int64: Long.fromNumber(5),
  bigInt64: Long.MAX_VALUE,
  decimal: Decimal128.fromString('1.10'),
  text: 'é\u{1f600}',
  nul: 'a\0b',
  bytes: new Binary(Buffer.from([1, 2, 255]), 0),
  oldBytes: new Binary(Buffer.from([9]), 2),
  userBytes: new Binary(Buffer.from([7]), 128),
  uuid: new UUID('0189ab12-3456-7890-abcd-ef0123456789'),
  id: new ObjectId('0123456789abcdef01234567'),
  yes: true,
  none: null,
  date: new Date(-1),
  regex: new BSONRegExp('a.*b', 'imsx'),
  code: new Code('x => x'),
  scoped: new Code('x', { x: new Int32(1) }),
  timestamp: new Timestamp({ t: 4294967295, i: 1 }),
  least: new MinKey(),
  greatest: new MaxKey(),
  list: [new Int32(1), new Double(1), [], {}],
  nested: { b: new Int32(1), a: new Double(1) },
};

t.test('every BSON type comes back as it went in, also after an update beside it', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<Document & { _id: number }>('items');
  await items.insertOne({ _id: 1, ...VALUES });
  const sameAs = async (values: object) => {
    const stored = await items.findOne({}, EXACT);
    for (const [name, value] of Object.entries(values)) {
      t.same(BSON.serialize({ value: stored?.[name] }), BSON.serialize({ value }), name);
    }
  };
  await sameAs(VALUES);
  await items.updateOne({ _id: 1 }, { $set: { touched: true }, $unset: { gone: 1 } });
  await sameAs(VALUES);
  await items.updateOne({ _id: 1 }, { $inc: { int64: 1, int32: 1, double: 1 } });
  await sameAs({
    ...VALUES,
    int64: Long.fromNumber(6),
    int32: new Int32(6),
    double: new Double(6),
  });
});

t.test('each stored value is found by an equal one', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: string; value: unknown }>('items');
  for (const [_id, value] of Object.entries(VALUES)) await items.insertOne({ _id, value });
  for (const [_id, value] of Object.entries(VALUES)) {
    t.ok(await items.findOne({ _id, value: { $eq: value } }), `$eq ${_id}`);
    if (_id !== 'regex') t.ok(await items.findOne({ _id, value: { $in: [value] } }), `$in ${_id}`);
  }
  t.equal(await items.countDocuments({ value: 5 }), 3, 'numbers of any type are equal');
  t.equal(await items.countDocuments({ value: { $in: [Decimal128.fromString('5.0')] } }), 3);
});

t.test('int32 grows to int64, and int64 does not wrap', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<Document & { _id: number }>('items');
  await items.insertOne({ _id: 1, n: new Int32(2147483647) });
  await items.updateOne({ _id: 1 }, { $inc: { n: new Int32(1) } });
  t.strictSame((await items.findOne({}, EXACT))?.['n'], Long.fromString('2147483648'));
  await items.updateOne({ _id: 1 }, { $set: { n: Long.MAX_VALUE } });
  await t.rejects(items.updateOne({ _id: 1 }, { $inc: { n: new Int32(1) } }), { code: 2 });
});

t.test('the numbers beyond a double are told apart', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: Long | Double | Decimal128 }>('items');
  const big = Long.fromString('9007199254740993');
  await items.insertOne({ _id: big });
  t.equal(await items.countDocuments({ _id: new Double(9007199254740992) }), 0);
  t.equal(await items.countDocuments({ _id: { $gt: new Double(9007199254740992) } }), 1);
  t.equal(await items.countDocuments({ _id: Decimal128.fromString('9007199254740993.0') }), 1);
});
