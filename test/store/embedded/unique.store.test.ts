import { MongoServerError } from 'mongodb';
import t from 'tap';
import { retryOnDeadlock } from '../../../store/writes.ts';
import { differs } from '../servers.ts';
import { insertAll, testCollection, toIds } from './collection.ts';

/** Returns the reason of a rejected promise. */
const rejection = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no rejection',
    (error) => error,
  );

t.test("names index, key and value in a duplicate's error", async (t) => {
  const members = await testCollection(t);
  await members.createIndex({ email: 1 }, { unique: true });
  await insertAll(members, [{ _id: 1, email: 'a@example.com' }, { _id: 2 }]);
  const skip = await differs('duplicateKeyDetails');
  const details = {
    message:
      /E11000 duplicate key error collection: \w+\.items index: email_1 dup key: \{ email: "a@example\.com" \}/,
    keyPattern: { email: 1 },
    keyValue: { email: 'a@example.com' },
  };
  const change = { $set: { email: 'a@example.com' } };
  for (const write of [
    () => members.insertOne({ _id: 3, email: 'a@example.com' }),
    () => members.updateOne({ _id: 2 }, change),
    () => retryOnDeadlock(() => members.findOneAndUpdate({ _id: 2 }, change)),
    () => members.updateOne({ _id: 4 }, change, { upsert: true }),
  ]) {
    t.match(await rejection(write()), { code: 11000, ...(skip ? {} : details) });
  }
  const withoutEmail = await rejection(members.insertOne({ _id: 5 }));
  t.match(withoutEmail, { keyValue: { email: null } }, { skip });
  const withSameId = await rejection(members.insertOne({ _id: 1, email: 'b' }));
  t.match(withSameId, { keyPattern: { _id: 1 } }, { skip });
  t.equal(await members.countDocuments(), 2, 'no write had an effect');
  await members.deleteMany({ _id: 1 });
  await t.resolves(members.insertOne({ _id: 6, email: 'a@example.com' }), 'free again');
  await t.resolves(members.updateOne({ _id: 6 }, { $set: { email: 'a@example.com', team: 'x' } }));
  await t.resolves(members.updateOne({ _id: 6 }, { $set: { email: 'c@example.com' } }));
  await t.resolves(members.insertOne({ _id: 7, email: 'a@example.com' }), 'and again');
});

t.test('inserts once for many concurrent upserts of a key', async (t) => {
  const members = await testCollection(t);
  await members.createIndex({ email: 1 }, { unique: true });
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () =>
      members.updateOne({ email: 'a' }, { $inc: { n: 1 } }, { upsert: true }),
    ),
  );
  const done = results.filter(({ status }) => status === 'fulfilled').length;
  t.equal(await members.countDocuments(), 1);
  t.match(await members.findOne({}), { n: done });
});

t.test('omits documents that lack the field from a sparse index', async (t) => {
  const members = await testCollection(t, [{ _id: 1 }, { _id: 2 }, { _id: 3, email: 'a' }]);
  await members.createIndex({ email: 1 }, { unique: true, sparse: true });
  await t.rejects(members.createIndex({ email: 1 }, { unique: true }), { code: 86 });
  await t.resolves(members.insertOne({ _id: 4 }), 'several documents without the field');
  await t.rejects(members.updateOne({ _id: 1 }, { $set: { email: 'a' } }), { code: 11000 });
  await members.updateOne({ _id: 3 }, { $unset: { email: true } });
  await t.resolves(members.updateOne({ _id: 1 }, { $set: { email: 'a' } }), 'it is free again');
  t.same(toIds(await members.find({ email: null }).sort({ _id: 1 }).toArray()), [2, 3, 4]);
});

t.test('refuses to create a unique index over duplicates', async (t) => {
  const duplicates = [1, 2].map((_id) => ({ _id, email: 'a' }));
  const members = await testCollection(t, duplicates);
  const error = await rejection(members.createIndex({ email: 1 }, { unique: true }));
  t.ok(error instanceof MongoServerError);
  t.match(error, { code: 11000 }, { skip: await differs('indexOverDuplicates') });
  await t.resolves(members.insertOne({ _id: 3, email: 'a' }));
  await t.resolves(members.createIndex({ email: 1 }), 'its name is free');
});
