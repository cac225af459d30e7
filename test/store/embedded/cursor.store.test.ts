import { Long } from 'mongodb';
import t from 'tap';
import { testDatabase } from '../connection.ts';
import { differs } from '../servers.ts';
import { type Item, insertAll } from './collection.ts';

const numbered = (length: number) => Array.from({ length }, (_, _id) => ({ _id }));

t.test('returns a long result in several batches', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<Item>('items');
  await insertAll(items, numbered(250));
  const first = await db.command({ find: 'items', filter: {}, sort: { _id: 1 } });
  t.equal(first['cursor'].firstBatch.length, 101);
  t.equal(first['cursor'].ns, `${db.databaseName}.items`);
  const more = { getMore: Long.fromValue(first['cursor'].id), collection: 'items' };
  const second = await db.command(more);
  t.equal(second['cursor'].nextBatch[0]._id, 101);
  t.equal(second['cursor'].nextBatch.length, 149);
  t.equal(Number(second['cursor'].id), 0, 'the end');
  await t.rejects(db.command(more), { code: 43 });
  t.equal((await items.find().toArray()).length, 250);
  t.equal((await items.aggregate([{ $group: { _id: '$_id' } }]).toArray()).length, 250);
});

t.test('limits batches by bytes', async (t) => {
  const { db } = await testDatabase(t);
  const items = db.collection<Item>('items');
  const text = 'x'.repeat(7 * 1024 * 1024);
  for (let _id = 0; _id < 4; _id += 1) await items.insertOne({ _id, text });
  const { cursor } = await db.command({ find: 'items', filter: {} });
  t.equal(cursor.firstBatch.length, 2);
  t.equal((await items.find().toArray()).length, 4);
});

t.test('kills a cursor, and binds it to its collection', async (t) => {
  const { db } = await testDatabase(t);
  await insertAll(db.collection<Item>('items'), numbered(102));
  const single = await db.command({ find: 'items', filter: {}, singleBatch: true });
  t.equal(Number(single['cursor'].id), 0, 'a single batch has no cursor');
  const { cursor } = await db.command({ find: 'items', filter: {} });
  const id = Long.fromValue(cursor.id);
  const skip = await differs('cursorCollection');
  if (skip) t.pass('of its collection', { skip });
  else await t.rejects(db.command({ getMore: id, collection: 'others' }), { code: 43 });
  const killed = await db.command({ killCursors: 'items', cursors: [id, Long.fromInt(9)] });
  t.match(killed, { cursorsKilled: [cursor.id], cursorsNotFound: [9] });
  await t.rejects(db.command({ getMore: id, collection: 'items' }), { code: 43 });
});
