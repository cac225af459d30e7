import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  type Document,
  Long,
  MaxKey,
  MinKey,
  MongoClient,
  Timestamp,
} from 'mongodb';
import t, { type Test } from 'tap';
import { embeddedUrl } from '../connection.ts';
import type { Item } from './collection.ts';

type Fields = { [field: string]: unknown };

/** Rejected input, the error code and part of the message. */
type Refusal = readonly [what: unknown, code: number, message: string];

/** @param message with `*` for the name */
const each = (
  list: string,
  code: number,
  what: (name: string) => unknown,
  message = '*',
): Refusal[] => list.split(' ').map((name) => [what(name), code, message.replace('*', () => name)]);

/** Unsupported names. */
const names = {
  commands:
    'distinct count drop dropDatabase dropIndexes listCollections listIndexes listDatabases create collMod explain mapReduce serverStatus saslStart saslContinue authenticate replSetGetStatus endSessions startSession commitTransaction bulkWrite isMaster constructor',
  findOptions:
    'hint collation let tailable awaitData noCursorTimeout min max returnKey showRecordId allowDiskUse allowPartialResults comment maxTimeMS readConcern lsid txnNumber startTransaction autocommit apiVersion apiStrict $readPreference $clusterTime colour',
  stages:
    '$sort $skip $limit $lookup $project $unwind $count $changeStream $out $merge $facet $constructor',
  accumulators: '$avg $min $max $first $push $count',
  logicalOperators: '$and $nor $where $expr $text $comment $jsonSchema $eq',
  queryOperators:
    '$eq $exists $type $not $all $size $elemMatch $mod $near $bitsAllSet $options $or $typo $constructor',
  rangeOperators: '$gt $gte $lt $lte',
  patterns: 'a.*b ^a a|b \\d [a] (a) a\\',
  updateOperators: '$min $push $pullAll $pop $rename $mul $bit $typo',
  updateOptions: 'collation arrayFilters sort hint c',
  indexKinds: 'text 2dsphere hashed 2d',
  indexOptions: 'collation background partialFilterExpression hidden weights v',
} as const;

const find = (more: Fields): Fields => ({ find: 'c', filter: {}, ...more });
const pipeline = (...stages: Fields[]): Fields => ({
  aggregate: 'c',
  pipeline: stages,
  cursor: {},
});
const group = (more: Fields) => pipeline({ $group: { _id: '$a', ...more } });
const change = (more: Fields): Fields => ({
  findAndModify: 'c',
  query: { _id: 1 },
  remove: false,
  new: false,
  upsert: false,
  update: { $set: { a: 2 } },
  ...more,
});

const refusedCommands: Refusal[] = [
  ...each(names.commands, 59, (name) => ({ [name]: 'c' }), "'*'"),
  ...each(names.findOptions, 115, (option) => find({ [option]: 1 }), "'find.*'"),
  [find({ sort: { $natural: -1 } }), 115, '$natural'],
  [find({ sort: { a: { $meta: 'textScore' } } }), 115, "'a'"],
  [find({ sort: { a: 2 } }), 2, "'a'"],
  [find({ sort: { list: 1 } }), 115, "'list' on an array"],
  [find({ sort: { 'documents.a': 1 } }), 115, "'documents.a' on an array"],
  [find({ sort: { part: 1 } }), 115, "'part' on a document"],
  [find({ limit: -1 }), 14, 'find.limit'],
  [find({ limit: 1.5 }), 14, 'find.limit'],
  [find({ filter: 'a' }), 14, 'find.filter'],
  [{ find: 'c' }, 14, 'find.filter'],
  [{ find: 1, filter: {} }, 14, 'find.find'],
  [find({ find: 'a$b' }), 73, 'a$b'],
  [find({ find: 'system.users' }), 73, 'system.users'],
  [find({ projection: { a: 0 } }), 115, "'a'"],
  [find({ projection: { _id: 0 } }), 115, "'_id'"],
  [find({ projection: { a: true } }), 115, "'a'"],
  [find({ projection: { 'a.b': 1 } }), 115, "'a.b'"],
  [find({ projection: { a: { $slice: 1 } } }), 115, "'a'"],
  [find({ projection: { a: '$b' } }), 115, "'a'"],
  [{ insert: 'c', documents: [{}, {}] }, 115, 'insert.documents'],
  [{ insert: 'c', documents: [] }, 14, 'insert.documents'],
  [{ insert: 'c', documents: [1] }, 14, 'insert.documents'],
  [{ insert: 'c', documents: [{}], writeConcern: { w: 1 } }, 115, 'insert.writeConcern'],
  [{ update: 'c', updates: [] }, 14, 'update.updates'],
  [{ aggregate: 1, pipeline: [], cursor: {} }, 14, 'aggregate.aggregate'],
  [pipeline(), 115, 'without $group'],
  [pipeline({ $match: {} }), 115, 'without $group'],
  [pipeline({ $group: { _id: 1 } }, { $match: {} }), 115, '$match'],
  [pipeline({ $group: { _id: 1 } }, { $group: { _id: 1 } }), 115, '$group'],
  [pipeline({ $group: { _id: 1 }, $match: {} }), 9, 'exactly one'],
  ...each(names.stages, 115, (stage) => pipeline({ [stage]: 1 })),
  ...each(names.accumulators, 115, (name) => group({ n: { [name]: 1 } })),
  [group({ n: { $sum: 2 } }), 115, '$sum'],
  [group({ n: { $sum: '$a' } }), 115, '$sum'],
  [group({ n: 1 }), 115, 'the accumulator'],
  [group({ _id: { $year: '$a' } }), 115, '$group'],
  [group({ _id: '$a.b' }), 115, '$group'],
  [group({ _id: '$$ROOT' }), 115, '$group'],
  [{ ...pipeline({ $group: { _id: 1 } }), cursor: { batchSize: 1 } }, 115, 'cursor.batchSize'],
  [{ ...pipeline({ $group: { _id: 1 } }), explain: true }, 115, 'aggregate.explain'],
  [change({ remove: true }), 115, 'findAndModify.remove'],
  [change({ fields: { a: 1 } }), 115, 'findAndModify.fields'],
  [change({ arrayFilters: [] }), 115, 'findAndModify.arrayFilters'],
  [change({ update: [{ $set: { a: 1 } }] }), 14, 'findAndModify.update'],
  [change({ query: { _id: { $in: [5] } }, upsert: true }), 115, '$in'],
  [change({ query: { b: {}, 'b.c': 5 }, upsert: true }), 40, 'b.c'],
  [{ killCursors: 'c', cursors: [1.5] }, 14, 'killCursors.cursors'],
  [{ getMore: 1.5, collection: 'c' }, 14, 'getMore.getMore'],
];

const refusedFilters: Refusal[] = [
  ...each(names.logicalOperators, 115, (operator) => ({ [operator]: [{ a: 1 }] })),
  ...each(names.queryOperators, 115, (operator) => ({ a: { [operator]: 1 } })),
  [{ a: { $gt: 1, b: 1 } }, 115, 'operator b'],
  [{ a: { $in: 1 } }, 2, '$in'],
  [{ a: { $in: [{ $gt: 1 }] } }, 2, '$in'],
  [{ a: { $nin: 1 } }, 2, '$nin'],
  [{ $or: [{ a: 1 }] }, 2, '$or'],
  [{ $or: { a: 1 } }, 2, '$or'],
  [{ $or: [1, 2] }, 2, '$or'],
  ...[null, [1], { a: 1 }, Number.NaN].flatMap((operand) =>
    each(names.rangeOperators, 115, (operator) => ({ a: { [operator]: operand } })),
  ),
  [{ a: /a/ }, 115, 'BSONRegExp'],
  [{ a: { $regex: /a/, $options: 'i' } }, 115, 'BSONRegExp'],
  [{ a: { $regex: 'a' } }, 115, '$options'],
  [{ a: { $regex: 'a', $options: 'ix' } }, 115, '$options'],
  ...each(names.patterns, 115, (text) => ({ a: { $regex: text, $options: 'i' } }), '$regex'),
  [{ 'a.0': 1 }, 115, "'0'"],
  [{ 'a..b': 1 }, 56, 'a..b'],
];

const refusedUpdates: Refusal[] = [
  ...each(names.updateOperators, 115, (operator) => ({ [operator]: { a: 1 } })),
  [{ a: 1 }, 115, 'a replacement'],
  [{}, 115, 'a replacement'],
  [{ a: 1, $set: { b: 1 } }, 115, 'a replacement'],
  [{ $set: { a: 1 }, b: 1 }, 9, 'b'],
  [{ $set: 1 }, 9, '$set'],
  [{ $set: { 'list.$': 1 } }, 115, 'list.$'],
  [{ $set: { 'list.$[]': 1 } }, 115, 'list.$[]'],
  [{ $set: { 'list.0': 1 } }, 115, "'0'"],
  [{ $set: { 'list.a': 1 } }, 28, 'list.a'],
  [{ $set: { 'a.b': 1 } }, 28, 'a.b'],
  [{ $set: { a: 1 }, $inc: { a: 1 } }, 40, "'a'"],
  [{ $set: { b: 1, 'b.c': 1 } }, 40, 'b.c'],
  [{ $set: { _id: 2 } }, 66, '_id'],
  [{ $unset: { _id: 1 } }, 66, '_id'],
  [{ $inc: { a: 'x' } }, 14, 'a'],
  [{ $inc: { text: 1 } }, 14, 'text'],
  [{ $max: { a: 'x' } }, 115, 'a'],
  [{ $max: { text: 1 } }, 115, 'text'],
  [{ $addToSet: { text: 1 } }, 2, 'text'],
  [{ $addToSet: { list: { $each: [1] } } }, 115, '$addToSet'],
  [{ $addToSet: { list: [1] } }, 115, '$addToSet'],
  [{ $pull: { text: 1 } }, 2, 'text'],
  [{ $pull: { list: { $gt: 1 } } }, 115, '$pull'],
  [{ $pull: { list: { a: 1 } } }, 115, '$pull'],
  [{ $currentDate: { a: { $type: 'timestamp' } } }, 115, '$currentDate'],
  ['text', 14, 'update.updates.u'],
  [[{ $set: { a: 1 } }], 14, 'update.updates.u'],
];

const refusedStatements: Refusal[] = [
  ...each(
    names.updateOptions,
    115,
    (option) => ({ update: 'c', updates: [{ q: {}, u: { $set: { a: 2 } }, [option]: {} }] }),
    'update.updates.*',
  ),
  [{ delete: 'c', deletes: [{ q: {}, limit: 1 }] }, 115, 'delete.deletes.limit'],
  [{ delete: 'c', deletes: [{ q: {}, limit: 0, hint: {} }] }, 115, 'delete.deletes.hint'],
  [{ insert: 'c', documents: [{ _id: [1] }] }, 115, '_id'],
];

const refusedIndexes: Refusal[] = [
  ...each(names.indexKinds, 115, (kind) => ({ key: { a: kind } }), "'a'"),
  ...each(names.indexOptions, 115, (option) => ({ key: { a: 1 }, [option]: 2 })),
  [{ key: { '$**': 1 } }, 115, '$**'],
  [{ key: { a: 0 } }, 2, "'a'"],
  [{ key: {} }, 67, 'key'],
  [{ key: { a: 1 }, name: '' }, 67, 'name'],
  [{ key: { _id: 1 } }, 115, '_id'],
  [{ key: { a: 1, b: 1 }, unique: true }, 115, 'unique'],
  [{ key: { a: 1, b: 1 }, sparse: true }, 115, 'sparse'],
  [{ key: { a: 1, b: 1 }, expireAfterSeconds: 1 }, 67, 'TTL'],
  [{ key: { a: 1 }, expireAfterSeconds: -1 }, 14, 'expireAfterSeconds'],
  [{ key: { a: 1 }, expireAfterSeconds: 2 ** 31 }, 67, 'expireAfterSeconds'],
  [{ key: { list: 1 } }, 115, "'list' on an array"],
  [{ key: { part: 1 } }, 115, "'part' on a document"],
];

const refusedTypes: Refusal[] = [
  [Decimal128.fromString('1'), 115, 'Decimal128'],
  [new Timestamp({ t: 1, i: 1 }), 115, 'Timestamp'],
  [Long.MAX_VALUE, 115, 'Long'],
  [new Binary(Buffer.from([1])), 115, 'Binary'],
  [new BSONRegExp('a'), 115, 'BSONRegExp'],
  [new Code('a'), 115, 'Code'],
  [new MinKey(), 115, 'MinKey'],
  [new MaxKey(), 115, 'MaxKey'],
  [{ $ref: 'c', $id: 1 }, 115, 'DBRef'],
];

async function startRefusals(t: Test) {
  const client = await MongoClient.connect(await embeddedUrl());
  t.teardown(() => client.close());
  const db = client.db('refusals');
  /** Checks the error of a command or of its statement. */
  const check = async (command: unknown, [what, code, part]: Refusal) => {
    const [found, message] = await db.command(command as Document).then(
      ({ writeErrors }) => [writeErrors?.[0].code, writeErrors?.[0].errmsg],
      (error) => [error.code, error.message],
    );
    const text = `${JSON.stringify(what)}: ${message}`;
    t.equal(found, code, text);
    t.ok(String(message).includes(part), text);
  };
  return { db, check };
}

t.test('rejects unsupported features by name and changes nothing', async (t) => {
  const { db, check } = await startRefusals(t);
  const items = db.collection<{ _id: number }>('c');
  const part = { x: 1 };
  const before = { _id: 1, a: 1, text: 'x', list: [1], documents: [{ a: 1 }], part };
  await items.insertOne(before);
  for (const refusal of [...refusedCommands, ...refusedStatements]) {
    await check(refusal[0], refusal);
  }
  for (const refusal of refusedFilters) await check(find({ filter: refusal[0] }), refusal);
  for (const refusal of refusedUpdates) {
    await check({ update: 'c', updates: [{ q: { _id: 1 }, u: refusal[0] }] }, refusal);
  }
  for (const refusal of refusedIndexes) {
    const index = { name: 'x', ...(refusal[0] as Fields) };
    await check({ createIndexes: 'c', indexes: [index] }, refusal);
  }
  for (const refusal of refusedTypes) {
    await check({ insert: 'c', documents: [{ deep: [{ value: refusal[0] }] }] }, refusal);
    await check(find({ filter: { a: { $in: [refusal[0]] } } }), refusal);
  }
  t.same(await items.find().toArray(), [before]);
});

t.test('rejects documents that are too deep or too large', async (t) => {
  const { db } = await startRefusals(t);
  const items = db.collection<Item>('items');
  let deep: object = {};
  for (let level = 0; level < 101; level += 1) deep = { deep };
  await t.rejects(items.insertOne({ _id: 0, ...deep }), { code: 15 });
  await items.insertOne({ _id: 1 });
  const text = 'x'.repeat(9 * 1024 * 1024);
  await items.updateOne({ _id: 1 }, { $set: { first: text } });
  await t.rejects(items.updateOne({ _id: 1 }, { $set: { second: text } }), { code: 10334 });
  t.match(await items.findOne({}), { _id: 1, first: text });
});

t.test('rejects bulk writes', async (t) => {
  const { db } = await startRefusals(t);
  const items = db.collection<Item>('bulk');
  await t.rejects(items.insertMany([{ _id: 1 }, { _id: 2 }]), { code: 115 });
  const deletion = { deleteMany: { filter: {} } };
  await t.rejects(items.bulkWrite([deletion, deletion], { ordered: false }), { code: 115 });
  t.equal(await items.countDocuments(), 0);
});

t.test('rejects authentication', async (t) => {
  const url = (await embeddedUrl()).replace('mongodb://', 'mongodb://user:password@');
  await t.rejects(MongoClient.connect(url), { code: 18 });
});

t.test('announces no sessions, which the driver then rejects', async (t) => {
  const { db } = await startRefusals(t);
  const session = db.client.startSession();
  await t.rejects(db.collection('c').findOne({}, { session }), { name: 'MongoCompatibilityError' });
  await session.endSession();
});
