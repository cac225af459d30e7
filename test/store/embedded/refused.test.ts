import { type Document, Int32, MongoClient, Timestamp } from 'mongodb';
import t from 'tap';
import { embeddedUrl } from '../connection.ts';

/** Everything here is either no MongoDB, or more of it than the store does exactly. */
const REFUSED: [what: string, command: { [field: string]: unknown }, code: number][] = [
  ['an unknown command', { distinct: 'c', key: 'a' }, 59],
  ['a command of a replica set', { replSetGetStatus: 1 }, 59],
  ['logging in', { saslStart: 1, mechanism: 'PLAIN', payload: '' }, 18],
  ['an unknown option', { find: 'c', colour: 1 }, 115],
  ['a collation', { find: 'c', collation: { locale: 'de' } }, 115],
  ['variables', { find: 'c', let: { a: 1 } }, 115],
  ['a tailable cursor', { find: 'c', tailable: true }, 115],
  ['index bounds', { find: 'c', min: { a: 1 } }, 115],
  ['a hint of no index', { find: 'c', hint: 'none' }, 2],
  ['a reverse natural order', { find: 'c', hint: { $natural: -1 } }, 2],
  ['sorting in natural order', { find: 'c', sort: { $natural: -1 } }, 115],
  ['sorting by relevance', { find: 'c', sort: { a: { $meta: 'textScore' } } }, 115],
  ['a sort direction of 2', { find: 'c', sort: { a: 2 } }, 2],
  ['a negative limit', { find: 'c', limit: -1 }, 2],
  ['a filter that is none', { find: 'c', filter: 'a' }, 14],
  ['a transaction', { find: 'c', txnNumber: 1, startTransaction: true, autocommit: false }, 20],
  ['a snapshot', { find: 'c', readConcern: { level: 'snapshot' } }, 115],
  [
    'a time to read after',
    { find: 'c', readConcern: { afterClusterTime: new Timestamp({ t: 1, i: 1 }) } },
    115,
  ],
  ['more copies than there are', { insert: 'c', documents: [{}], writeConcern: { w: 2 } }, 2],
  ['the strict API', { find: 'c', apiVersion: '1', apiStrict: true }, 115],
  ['another API version', { find: 'c', apiVersion: '2' }, 322],
  ['a bad collection name', { find: 'a$b' }, 73],
  ['a system collection', { insert: 'system.users', documents: [{}] }, 73],
  ['a projection operator', { find: 'c', projection: { a: { $slice: 1 } } }, 115],
  ['a computed projection', { find: 'c', projection: { a: '$b' } }, 115],
  ['including and excluding', { find: 'c', projection: { a: 1, b: 0 } }, 31254],
  ['colliding projections', { find: 'c', projection: { a: 1, 'a.b': 1 } }, 31249],
  ['too large a batch', { update: 'c', updates: [] }, 2],
  ['a command over a whole database', { aggregate: 1, pipeline: [], cursor: {} }, 115],
  ['a change stream', { aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {} }, 40573],
  ['a join', { aggregate: 'c', pipeline: [{ $lookup: {} }], cursor: {} }, 115],
  [
    'another accumulator',
    { aggregate: 'c', pipeline: [{ $group: { _id: 1, n: { $avg: 1 } } }], cursor: {} },
    115,
  ],
  [
    'a computed group',
    { aggregate: 'c', pipeline: [{ $group: { _id: { $year: '$a' } } }], cursor: {} },
    115,
  ],
  ['an explanation', { aggregate: 'c', pipeline: [], cursor: {}, explain: true }, 115],
  ['several indexes to drop', { dropIndexes: 'c', index: ['a', 'b'] }, 115],
  ['removing and returning the new one', { findAndModify: 'c', remove: true, new: true }, 9],
  ['neither update nor removal', { findAndModify: 'c' }, 9],
  ['array filters', { findAndModify: 'c', update: { $set: { a: 1 } }, arrayFilters: [] }, 115],
  ['an update pipeline', { findAndModify: 'c', update: [{ $set: { a: 1 } }] }, 115],
];

const FILTERS: [filter: { [field: string]: unknown }, code: number][] = [
  [{ $where: 'true' }, 115],
  [{ $expr: { $eq: ['$a', 1] } }, 115],
  [{ $text: { $search: 'a' } }, 115],
  [{ a: { $mod: [2, 0] } }, 115],
  [{ a: { $near: [0, 0] } }, 115],
  [{ a: { $bitsAllSet: 1 } }, 115],
  [{ a: { $typo: 1 } }, 115],
  [{ a: { $gt: 1, b: 1 } }, 2],
  [{ a: { $all: [{ $elemMatch: {} }] } }, 115],
  [{ a: { $in: 1 } }, 2],
  [{ a: { $size: -1 } }, 2],
  [{ a: { $ne: /a/ } }, 2],
  [{ a: { $type: 'number of things' } }, 2],
  [{ a: /a.*b/ }, 115],
  [{ a: /\d/ }, 115],
  [{ a: { $regex: 'a', $options: 'x' } }, 115],
  [{ a: { $options: 'i' } }, 2],
  [{ 'a.0': 1 }, 115],
  [{ 'a..b': 1 }, 56],
  [{ $or: [] }, 2],
];

const UPDATES: [update: unknown, code: number][] = [
  [{ $rename: { a: 'b' } }, 115],
  [{ $mul: { a: 2 } }, 115],
  [{ $pop: { a: 1 } }, 115],
  [{ $typo: { a: 1 } }, 115],
  [{ $set: { a: 1 }, b: 1 }, 9],
  [{ b: 1, $set: { a: 1 } }, 52],
  [{ $set: { 'list.$': 1 } }, 115],
  [{ $set: { 'list.$[]': 1 } }, 115],
  [{ $set: { 'list.0': 1 } }, 115],
  [{ $set: { 'list.a': 1 } }, 28],
  [{ $set: { 'a.b': 1 } }, 28],
  [{ $set: { a: 1 }, $inc: { a: 1 } }, 40],
  [{ $set: { b: 1, 'b.c': 1 } }, 40],
  [{ $set: { b: { $c: 1 } } }, 52],
  [{ $set: { _id: 2 } }, 66],
  [{ $inc: { a: 'x' } }, 14],
  [{ $inc: { text: 1 } }, 14],
  [{ $push: { a: 1 } }, 2],
  [{ $push: { list: { $each: [1], $slice: 1 } } }, 115],
  [{ $push: { list: { $each: [1], $position: 0 } } }, 115],
  [{ $addToSet: { text: 1 } }, 2],
  [{ $pull: { text: 1 } }, 2],
  [{ $currentDate: { a: { $type: 'timestamp' } } }, 115],
  ['text', 9],
];

const INDEXES: [index: { [field: string]: unknown }, code: number][] = [
  [{ key: { a: 'text' } }, 115],
  [{ key: { a: '2dsphere' } }, 115],
  [{ key: { a: 1 }, sparse: true }, 115],
  [{ key: { a: 1 }, collation: { locale: 'de' } }, 115],
  [{ key: { '$**': 1 } }, 115],
  [{ key: { a: 0 } }, 67],
  [{ key: {} }, 67],
  [{ key: { a: 1 }, partialFilterExpression: { a: { $ne: 1 } } }, 67],
];

t.test('what is not done exactly is refused with its code', async (t) => {
  const client = await MongoClient.connect(await embeddedUrl());
  t.teardown(() => client.close());
  const db = client.db('refusals');
  const before = { _id: 1, a: 1, text: 'x', list: [1] };
  await db.collection<{ _id: number }>('c').insertOne(before);
  for (const [what, command, code] of REFUSED) {
    await t.rejects(db.command(command), { code }, what);
  }
  for (const [filter, code] of FILTERS) {
    await t.rejects(db.command({ find: 'c', filter }), { code }, JSON.stringify(filter));
  }
  for (const [u, code] of UPDATES) {
    const { writeErrors } = await db.command({ update: 'c', updates: [{ q: { _id: 1 }, u }] });
    t.match(writeErrors, [{ index: 0, code }], JSON.stringify(u));
  }
  for (const option of ['collation', 'arrayFilters', 'sort', 'c']) {
    const statement = { q: {}, u: { $set: { a: 2 } }, [option]: {} };
    const { writeErrors } = await db.command({ update: 'c', updates: [statement] });
    t.match(writeErrors, [{ code: 115 }], option);
  }
  for (const [index, code] of INDEXES) {
    const indexes = [{ name: 'x', ...index }];
    await t.rejects(db.command({ createIndexes: 'c', indexes }), { code }, JSON.stringify(index));
  }
  t.same(await db.collection('c').find().toArray(), [before], 'and nothing has changed');
});

t.test('what cannot be stored is refused', async (t) => {
  const client = await MongoClient.connect(await embeddedUrl());
  t.teardown(() => client.close());
  const db = client.db('refusals');
  const items = db.collection<Document & { _id: number }>('items');
  let deep: object = {};
  for (let level = 0; level < 101; level += 1) deep = { deep };
  await t.rejects(items.insertOne({ _id: 0, ...deep }), { code: 15 });
  const { writeErrors } = await db.command({ insert: 'items', documents: [{ _id: [1] }] });
  t.match(writeErrors, [{ code: 2 }]);
  const empty = new Timestamp({ t: 0, i: 0 });
  await t.rejects(items.insertOne({ _id: 0, empty }), { code: 115 });
  await items.insertOne({ _id: 1 });
  const text = 'x'.repeat(9 * 1024 * 1024);
  await items.updateOne({ _id: 1 }, { $set: { first: text } });
  await t.rejects(items.updateOne({ _id: 1 }, { $set: { second: text } }), { code: 10334 });
  await items.createIndex({ a: 1, b: 1 });
  await t.rejects(items.insertOne({ _id: 2, a: [1, 2], b: [1, 2] }), { code: 171 });
});

t.test('options that change no result are accepted', async (t) => {
  const client = await MongoClient.connect(await embeddedUrl());
  t.teardown(() => client.close());
  const db = client.db('refusals');
  await db.collection('c').createIndex({ a: 1 });
  const write = {
    writeConcern: { w: 'majority', j: true },
    comment: 'why',
    maxTimeMS: new Int32(5000),
  };
  await t.resolves(db.command({ insert: 'c', documents: [{ a: 1 }], ...write }));
  const read = {
    hint: { a: 1 },
    readConcern: { level: 'majority' },
    comment: 'why',
    tailable: false,
  };
  await t.resolves(db.command({ find: 'c', ...read }));
});
