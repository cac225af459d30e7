import { Long } from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';

t.test('a long result comes in batches', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: number }>('items');
  await items.insertMany(Array.from({ length: 250 }, (_, _id) => ({ _id })));
  const first = await db.command({ find: 'items', sort: { _id: 1 } });
  t.equal(first['cursor'].firstBatch.length, 101);
  t.equal(first['cursor'].ns, `${db.databaseName}.items`);
  const more = { getMore: Long.fromValue(first['cursor'].id), collection: 'items' };
  const second = await db.command({ ...more, batchSize: 100 });
  t.equal(second['cursor'].nextBatch[0]._id, 101);
  t.equal(second['cursor'].nextBatch.length, 100);
  const third = await db.command(more);
  t.equal(third['cursor'].nextBatch.length, 49);
  t.equal(Number(third['cursor'].id), 0, 'the end');
  await t.rejects(db.command(more), { code: 43 });
  t.equal((await items.find().batchSize(7).toArray()).length, 250);
  t.equal((await items.aggregate([{ $match: {} }], { batchSize: 7 }).toArray()).length, 250);
});

t.test('batches are bounded in bytes', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<{ _id: number; text: string }>('items');
  const text = 'x'.repeat(7 * 1024 * 1024);
  for (let _id = 0; _id < 4; _id += 1) await items.insertOne({ _id, text });
  const { cursor } = await db.command({ find: 'items' });
  t.equal(cursor.firstBatch.length, 2);
  t.equal((await items.find().toArray()).length, 4);
});

t.test('a cursor is killed, and is of its collection only', async (t) => {
  const { db } = await testDatabase(t);
  await db.collection('items').insertMany([{}, {}, {}]);
  const { cursor } = await db.command({ find: 'items', batchSize: 1 });
  const id = Long.fromValue(cursor.id);
  const cursors = [id, Long.fromInt(9)];
  await t.rejects(db.command({ getMore: id, collection: 'others' }));
  const killed = await db.command({ killCursors: 'items', cursors });
  t.match(killed, { cursorsKilled: [cursor.id], cursorsNotFound: [9] });
  await t.rejects(db.command({ getMore: id, collection: 'items' }), { code: 43 });
});

t.test('a single batch leaves no cursor, nor does a batch size of 0 lose anything', async (t) => {
  const { db } = await testDatabase(t);
  await db.collection('items').insertMany([{}, {}, {}]);
  const single = await db.command({ find: 'items', batchSize: 1, singleBatch: true });
  t.equal(Number(single['cursor'].id), 0);
  const none = await db.command({ find: 'items', batchSize: 0 });
  t.same(none['cursor'].firstBatch, []);
  const rest = await db.command({
    getMore: Long.fromValue(none['cursor'].id),
    collection: 'items',
  });
  t.equal(rest['cursor'].nextBatch.length, 3);
});
