import t from 'tap';
import { testDatabase } from '../connection.ts';

interface Member {
  _id: number;
  email?: string | null;
  team?: string;
  active?: boolean;
  nicknames?: string[];
}

/** What the promise rejects with. */
const refusal = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no refusal',
    (error) => error,
  );

t.test('a duplicate is refused with its index, key and value', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member>('members');
  await members.createIndex({ email: 1 }, { unique: true });
  await members.insertMany([{ _id: 1, email: 'a@example.com' }, { _id: 2 }]);
  const duplicate = {
    code: 11000,
    message:
      /E11000 duplicate key error collection: \w+\.members index: email_1 dup key: \{ email: "a@example\.com" \}/,
    keyPattern: { email: 1 },
    keyValue: { email: 'a@example.com' },
  };
  t.match(await refusal(members.insertOne({ _id: 3, email: 'a@example.com' })), duplicate);
  t.match(
    await refusal(members.updateOne({ _id: 2 }, { $set: { email: 'a@example.com' } })),
    duplicate,
  );
  const change = { $set: { email: 'a@example.com' } };
  t.match(await refusal(members.findOneAndUpdate({ _id: 2 }, change)), duplicate);
  t.match(await refusal(members.updateOne({ _id: 4 }, change, { upsert: true })), duplicate);
  t.match(await refusal(members.insertOne({ _id: 5 })), { keyValue: { email: null } });
  t.match(await refusal(members.insertOne({ _id: 1, email: 'b' })), { keyPattern: { _id: 1 } });
  t.equal(await members.countDocuments(), 2, 'nothing of it has happened');
  await members.deleteOne({ _id: 1 });
  await t.resolves(members.insertOne({ _id: 6, email: 'a@example.com' }), 'free again');
  await t.resolves(members.updateOne({ _id: 6 }, { $set: { email: 'a@example.com', team: 'x' } }));
});

t.test('a compound key is unique as a whole, a partial one among its own', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member>('members');
  await members.createIndex({ team: 1, email: 1 }, { unique: true });
  await members.insertMany([
    { _id: 1, team: 'red', email: 'a' },
    { _id: 2, team: 'blue', email: 'a' },
  ]);
  t.match(await refusal(members.insertOne({ _id: 3, team: 'red', email: 'a' })), {
    code: 11000,
    keyValue: { team: 'red', email: 'a' },
  });

  const others = db.collection<Member>('others');
  await others.createIndex(
    { email: 1 },
    { unique: true, partialFilterExpression: { active: true } },
  );
  await others.insertMany([
    { _id: 1, email: 'a', active: true },
    { _id: 2, email: 'a', active: false },
  ]);
  t.equal(await others.countDocuments({ email: 'a' }), 2, 'others are found all the same');
  await t.rejects(others.updateOne({ _id: 2 }, { $set: { active: true } }), { code: 11000 });
  await others.updateOne({ _id: 1 }, { $set: { active: false } });
  await t.resolves(others.updateOne({ _id: 2 }, { $set: { active: true } }));
});

t.test('each element of an array is unique among documents', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member>('members');
  await members.createIndex({ nicknames: 1 }, { unique: true });
  await members.insertOne({ _id: 1, nicknames: ['x', 'y', 'x'] });
  t.match(await refusal(members.insertOne({ _id: 2, nicknames: ['z', 'y'] })), {
    keyValue: { nicknames: 'y' },
  });
  await t.resolves(members.insertOne({ _id: 2, nicknames: ['z'] }));
});

t.test('of many concurrent upserts of one key one inserts', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member & { n: number }>('members');
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

t.test('a batch stops at the first duplicate, or goes on when unordered', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member>('members');
  const batch = [{ _id: 1 }, { _id: 1 }, { _id: 2 }];
  t.match(await refusal(members.insertMany(batch)), { code: 11000, insertedCount: 1 });
  t.equal(await members.countDocuments(), 1);
  await members.deleteMany({});
  const unordered = members.insertMany(batch, { ordered: false });
  t.match(await refusal(unordered), { insertedCount: 2 });
  t.equal(await members.countDocuments(), 2);
});

t.test('an index over what breaks it is not made', async (t) => {
  const { db } = await testDatabase(t);
  const members = db.collection<Member>('members');
  await members.insertMany([
    { _id: 1, email: 'a' },
    { _id: 2, email: 'a' },
  ]);
  await t.rejects(members.createIndex({ email: 1 }, { unique: true }), { code: 11000 });
  t.equal((await members.indexes()).length, 1);
});
