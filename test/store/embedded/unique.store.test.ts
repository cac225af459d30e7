import { MongoServerError } from 'mongodb';
import t from 'tap';
import { writePortably } from '../../../store/upsert.ts';
import { differs } from '../servers.ts';
import { insertAll, testCollection } from './collection.ts';

interface Member {
  _id: number;
  email?: string | null;
  team?: string;
}

/** The rejection of a promise. */
const refusal = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no refusal',
    (error) => error,
  );

t.test('a duplicate is refused with its index, key and value', async (t) => {
  const members = await testCollection<Member>(t);
  await members.createIndex({ email: 1 }, { unique: true });
  await insertAll(members, [{ _id: 1, email: 'a@example.com' }, { _id: 2 }]);
  const only11000 = { code: 11000 };
  const unnamed = await differs('duplicateKeyDetails');
  const named = {
    ...only11000,
    message:
      /E11000 duplicate key error collection: \w+\.items index: email_1 dup key: \{ email: "a@example\.com" \}/,
    keyPattern: { email: 1 },
    keyValue: { email: 'a@example.com' },
  };
  const duplicate = unnamed ? only11000 : named;
  t.match(await refusal(members.insertOne({ _id: 3, email: 'a@example.com' })), duplicate);
  t.match(
    await refusal(members.updateOne({ _id: 2 }, { $set: { email: 'a@example.com' } })),
    duplicate,
  );
  const change = { $set: { email: 'a@example.com' } };
  const changed = writePortably(() => members.findOneAndUpdate({ _id: 2 }, change));
  t.match(await refusal(changed), duplicate);
  t.match(await refusal(members.updateOne({ _id: 4 }, change, { upsert: true })), duplicate);
  const withoutEmail = await refusal(members.insertOne({ _id: 5 }));
  t.match(withoutEmail, { keyValue: { email: null } }, { skip: unnamed });
  const withSameId = await refusal(members.insertOne({ _id: 1, email: 'b' }));
  t.match(withSameId, { keyPattern: { _id: 1 } }, { skip: unnamed });
  t.equal(await members.countDocuments(), 2, 'no write had an effect');
  await members.deleteMany({ _id: 1 });
  await t.resolves(members.insertOne({ _id: 6, email: 'a@example.com' }), 'free again');
  await t.resolves(members.updateOne({ _id: 6 }, { $set: { email: 'a@example.com', team: 'x' } }));
  await t.resolves(members.updateOne({ _id: 6 }, { $set: { email: 'c@example.com' } }));
  await t.resolves(members.insertOne({ _id: 7, email: 'a@example.com' }), 'and again');
});

t.test('one of many concurrent upserts of a key inserts', async (t) => {
  const members = await testCollection<Member & { n: number }>(t);
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

t.test('a sparse index concerns only documents with its field', async (t) => {
  const members = await testCollection<Member>(t, [{ _id: 1 }, { _id: 2 }, { _id: 3, email: 'a' }]);
  await members.createIndex({ email: 1 }, { unique: true, sparse: true });
  await t.rejects(members.createIndex({ email: 1 }, { unique: true }), { code: 86 });
  await t.resolves(members.insertOne({ _id: 4 }), 'several documents without the field');
  await t.rejects(members.updateOne({ _id: 1 }, { $set: { email: 'a' } }), { code: 11000 });
  await members.updateOne({ _id: 3 }, { $unset: { email: true } });
  await t.resolves(members.updateOne({ _id: 1 }, { $set: { email: 'a' } }), 'it is free again');
  const without = await members.find({ email: null }).sort({ _id: 1 }).toArray();
  t.same(
    without.map(({ _id }) => _id),
    [2, 3, 4],
  );
});

t.test('a unique index over duplicates is not created', async (t) => {
  const members = await testCollection<Member>(t);
  await insertAll(members, [
    { _id: 1, email: 'a' },
    { _id: 2, email: 'a' },
  ]);
  const uncoded = await differs('indexOverDuplicates');
  const refused = await refusal(members.createIndex({ email: 1 }, { unique: true }));
  t.ok(refused instanceof MongoServerError);
  t.match(refused, { code: 11000 }, { skip: uncoded });
  await t.resolves(members.insertOne({ _id: 3, email: 'a' }));
  await t.resolves(members.createIndex({ email: 1 }), 'its name is free');
});
