import { BSON, ObjectId } from 'mongodb';
import t from 'tap';
import { type Item, testCollection } from './collection.ts';

const valuesOfAllTypes = {
  fraction: 0.1,
  negativeZero: -0,
  nan: Number.NaN,
  integer: 5,
  large: 2 ** 40,
  text: 'é\u{1f600}',
  nul: 'a\0b',
  id: new ObjectId('0123456789abcdef01234567'),
  yes: true,
  none: null,
  date: new Date(-1),
  list: [1, 1.5, [], {}],
  nested: { b: 1, a: 2.5 },
};

t.test('keeps values, even after an update of other fields', async (t) => {
  const items = await testCollection(t, [{ _id: 1, ...valuesOfAllTypes }]);
  const isSame = async () => {
    const { touched: _, ...stored } = (await items.findOne({})) ?? ({ _id: 0 } as Item);
    t.same(BSON.serialize(stored), BSON.serialize({ _id: 1, ...valuesOfAllTypes }));
  };
  await isSame();
  await items.updateOne({ _id: 1 }, { $set: { touched: true }, $unset: { gone: 1 } });
  await isSame();
});

t.test('adds beyond the range of int32', async (t) => {
  const items = await testCollection(t, [{ _id: 1, n: 2147483647 }]);
  await items.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  t.equal((await items.findOne({}))?.['n'], 2147483648);
});
