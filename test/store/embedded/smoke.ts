import t from 'tap';
import { testDatabase } from '../connection.ts';

t.test('smoke', async (t) => {
  const { db, client, url } = await testDatabase(t);
  t.comment(url);
  const c = db.collection<any>('things');
  await c.insertMany([{ a: 1 }, { a: 2, tags: ['x'] }, { a: 3 }]);
  t.equal(await c.countDocuments({ a: { $gte: 2 } }), 2);
  t.match(
    await c.findOneAndUpdate({ a: 2 }, { $addToSet: { tags: 'y' } }, { returnDocument: 'after' }),
    { tags: ['x', 'y'] },
  );
  t.equal(await c.createIndex({ a: 1 }, { unique: true }), 'a_1');
  await t.rejects(c.insertOne({ a: 1 }), { code: 11000 });
  try {
    await c.insertOne({ a: 1 });
  } catch (e) {
    t.comment(String(e), e);
  }
  t.strictSame(await c.find({}).sort({ a: -1 }).limit(2).project({ a: 1, _id: 0 }).toArray(), [
    { a: 3 },
    { a: 2 },
  ]);
  t.comment(await c.indexes(), await db.listCollections().toArray());
  await t.rejects(c.distinct('a'), { code: 59 });
  t.comment(await client.db('admin').command({ hello: 1 }));
});
