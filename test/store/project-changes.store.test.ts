import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { StoredProject } from '../../store/project-changes.ts';
import { newProject, testProjects } from './projects.ts';

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test('concurrent changes are all stored, with a revision each', async (t) => {
  const { projects } = await testProjects(t);
  const removed = numbered(25, (index) => `old-${index}.example`);
  const added = numbered(25, (index) => `new-${index}.example`);
  const { _id } = await projects.create({ ...newProject, allowedOrigins: removed });
  const fields = { defaultQuality: 31, watermarkMargin: 7, maxWidth: 1_234, autoFormat: false };
  const results = await Promise.all([
    ...removed.map((host) => projects.removeHost(_id, host)),
    ...added.map((host) => projects.addHost(_id, host)),
    ...Object.entries(fields).map(([name, value]) =>
      projects.updateSettings(_id, { [name]: value }),
    ),
    ...added.map((host) => projects.addHost(_id, host)),
  ]);
  const revisions = new Set(results.map((result) => result?.revision));
  t.same(revisions, new Set(numbered(results.length, (index) => index + 2)));
  const after = await projects.find(_id);
  t.same([...(after?.allowedOrigins ?? [])].sort(), added.sort());
  t.match(after, fields);
  t.equal(after?.revision, 1 + results.length);
});

t.test('a follower gets each change, for a limited number of polls', async (t) => {
  const { projects } = await testProjects(t);
  const changes = projects.followChanges();
  t.equal(await changes.next(), null, 'earlier changes are unknown');
  t.same(await changes.next(), []);
  const { _id } = await projects.create(newProject);
  t.same(await changes.next(), [{ _id, revision: 1 }]);
  await projects.addHost(_id, 'a.example');
  const revisions = new Set<number>();
  for (let found = await changes.next(); found?.length !== 0; found = await changes.next()) {
    for (const { revision } of found ?? []) revisions.add(revision);
  }
  t.same(revisions, new Set([2]));
  const later = projects.followChanges();
  t.equal(await later.next(), null);
  t.same(await later.next(), []);
});

t.test('a change number that is written late is not missed', async (t) => {
  const { db, projects } = await testProjects(t);
  const changes = projects.followChanges();
  await changes.next();
  const stored = db.collection<StoredProject>('projects');
  const setNumber = (_id: string, changeNumber: number) =>
    stored.updateOne({ _id }, { $set: { changeNumber }, $unset: { changePending: '' } });
  const counter = db.collection<{ _id: string; value: number }>('counters');
  const count = (value: number) =>
    counter.updateOne({ _id: 'projectChanges' }, { $inc: { value } }, { upsert: true });
  // One follower takes number 1 and is suspended; another takes number 2 and writes it.
  const [one, two] = [await projects.create(newProject), await projects.create(newProject)];
  await count(2);
  await setNumber(two._id, 2);
  const first = await changes.next();
  await setNumber(one._id, 1);
  const seen = [...(first ?? []), ...((await changes.next()) ?? [])].map(({ _id }) => _id);
  t.same(new Set(seen), new Set([one._id, two._id]));

  const three = await projects.create(newProject);
  await count(1);
  await setNumber(three._id, 3);
  t.match(await changes.next(), [{ _id: three._id }], 'also a change that no poll saw pending');

  // The mark is replaced after a poll has read the counter, and before it reads the marks.
  const four = await projects.create(newProject);
  await setNumber(four._id, 4);
  t.match(await changes.next(), [{ _id: four._id }]);

  await count(-2);
  t.equal(await changes.next(), null, 'changes are unknown after the counter has decreased');
});

t.test('every concurrent follower gets the last of many concurrent changes', async (t) => {
  const { projects } = await testProjects(t);
  const created = await Promise.all(numbered(5, () => projects.create(newProject)));
  let changing = true;
  const follow = async () => {
    const changes = projects.followChanges();
    await changes.next();
    const latest = new Map(created.map(({ _id }) => [_id, 1]));
    for (let polls = 4; polls > 0; polls -= changing ? 0 : 1) {
      for (const { _id, revision } of (await changes.next()) ?? []) {
        latest.set(_id, Math.max(latest.get(_id) ?? 0, revision));
      }
      await sleep(Math.random() * 5);
    }
    return latest;
  };
  const followers = numbered(3, follow);
  await sleep(0);
  await Promise.all(
    created.map(async ({ _id }) => {
      for (let i = 0; i < 30; i++) {
        await projects.addHost(_id, `${i}.example`);
        await sleep(Math.random() * 10);
      }
    }),
  );
  changing = false;
  for (const latest of await Promise.all(followers)) {
    t.same(new Set(latest.values()), new Set([31]));
  }
});

t.test("the date of a change is that of the store's clock", async (t) => {
  const { projects } = await testProjects(t);
  t.teardown(() => mock.timers.reset());
  const hour = 3_600_000;
  mock.timers.enable({ apis: ['Date'], now: Date.now() + hour });
  const created = await projects.create(newProject);
  mock.timers.reset();
  t.ok(Math.abs(created.changedAt.getTime() - Date.now()) < hour / 2);
  t.same(await projects.find(created._id), created);
});
