import { BSON, Double, Int32, Long, ObjectId } from 'mongodb';
import t from 'tap';
import { testCollection } from './collection.ts';

/** Reads values with their BSON types, numbers included. */
const exactTypes = { promoteValues: false, promoteLongs: false } as const;

const valuesOfAllTypes = {
  double: new Double(5),
  negativeZero: new Double(-0),
  nan: new Double(Number.NaN),
  int32: new Int32(5),
  int64: Long.fromNumber(5),
  bigInt64: Long.MAX_VALUE,
  text: 'é\u{1f600}',
  nul: 'a\0b',
  id: new ObjectId('0123456789abcdef01234567'),
  yes: true,
  none: null,
  date: new Date(-1),
  list: [new Int32(1), new Double(1), [], {}],
  nested: { b: new Int32(1), a: new Double(1) },
};

t.test('keeps the types of values, even after an update of other fields', async (t) => {
  const items = await testCollection(t, [{ _id: 1, ...valuesOfAllTypes }]);
  const sameAs = async (values: object) => {
    const stored = await items.findOne({}, exactTypes);
    for (const [name, value] of Object.entries(values)) {
      t.same(BSON.serialize({ value: stored?.[name] }), BSON.serialize({ value }), name);
    }
  };
  await sameAs(valuesOfAllTypes);
  await items.updateOne({ _id: 1 }, { $set: { touched: true }, $unset: { gone: 1 } });
  await sameAs(valuesOfAllTypes);
  await items.updateOne({ _id: 1 }, { $inc: { int64: 1, int32: 1, double: 1 } });
  await sameAs({ int64: Long.fromNumber(6), int32: new Int32(6), double: new Double(6) });
});

t.test('widens int32 to int64 on overflow, and rejects an int64 overflow', async (t) => {
  const items = await testCollection(t, [{ _id: 1, n: new Int32(2147483647) }]);
  await items.updateOne({ _id: 1 }, { $inc: { n: new Int32(1) } });
  t.strictSame((await items.findOne({}, exactTypes))?.['n'], Long.fromString('2147483648'));
  await items.updateOne({ _id: 1 }, { $set: { n: Long.MAX_VALUE } });
  await t.rejects(items.updateOne({ _id: 1 }, { $inc: { n: new Int32(1) } }), { code: 2 });
});
