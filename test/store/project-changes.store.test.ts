import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { StoredProject } from '../../store/project-changes.ts';
import { newProject, testProjects } from './projects.ts';

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test('concurrent additions of 50 hosts are all stored, with a revision each', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const hosts = numbered(50, (index) => `host-${index}.example`);
  const answers = await Promise.all(hosts.map((host) => projects.addHost(_id, host)));
  const after = await projects.find(_id);
  t.same(
    [...(after?.allowedOrigins ?? [])].sort(),
    [...hosts, ...newProject.allowedOrigins].sort(),
  );
  t.equal(after?.revision, 51);
  const revisions = answers.map((answer) => answer?.revision ?? 0).sort((a, b) => a - b);
  const expected = numbered(50, (index) => index + 2);
  t.same(revisions, expected, 'each answer has its own revision');
});

t.test('concurrent changes of hosts and settings are all stored', async (t) => {
  const { projects } = await testProjects(t);
  const old = numbered(25, (index) => `old-${index}.example`);
  const young = numbered(25, (index) => `new-${index}.example`);
  const { _id } = await projects.create({ ...newProject, allowedOrigins: old });
  const fields = { defaultQuality: 31, watermarkMargin: 7, maxWidth: 1_234, autoFormat: false };
  await Promise.all([
    ...old.map((host) => projects.removeHost(_id, host)),
    ...young.map((host) => projects.addHost(_id, host)),
    ...Object.entries(fields).map((field) =>
      projects.updateSettings(_id, Object.fromEntries([field])),
    ),
    ...young.map((host) => projects.addHost(_id, host)),
  ]);
  const after = await projects.find(_id);
  t.same([...(after?.allowedOrigins ?? [])].sort(), young.sort());
  t.match(after, fields);
  t.equal(after?.revision, 1 + 25 + 25 + 4 + 25);
});

t.test('50 concurrent creations are 50 projects', async (t) => {
  const { projects } = await testProjects(t);
  const made = await Promise.all(numbered(50, () => projects.create(newProject)));
  t.equal(new Set(made.map(({ _id }) => _id)).size, 50);
  t.equal((await projects.list()).length, 50);
});

t.test('a follower gets each change, for a limited number of polls', async (t) => {
  const { projects } = await testProjects(t);
  const changes = projects.followChanges();
  t.equal(await changes.next(), null, 'earlier changes are unknown');
  t.same(await changes.next(), []);
  const { _id } = await projects.create(newProject);
  t.same(await changes.next(), [{ _id, revision: 1 }]);
  await projects.addHost(_id, 'a.example');
  const told: number[] = [];
  for (let found = await changes.next(); found?.length !== 0; found = await changes.next()) {
    for (const { revision } of found ?? []) told.push(revision);
  }
  t.same(new Set(told), new Set([2]));
  const late = projects.followChanges();
  t.equal(await late.next(), null);
  t.same(await late.next(), []);
});

t.test('a change number that is written late is not missed', async (t) => {
  const { db, projects } = await testProjects(t);
  const changes = projects.followChanges();
  await changes.next();
  const [one, two] = [await projects.create(newProject), await projects.create(newProject)];
  const numbered = (_id: string, changeNumber: number) =>
    db
      .collection<StoredProject>('projects')
      .updateOne({ _id }, { $set: { changeNumber }, $unset: { changePending: '' } });
  const counter = db.collection<{ _id: string; value: number }>('counters');
  const take = () =>
    counter.updateOne({ _id: 'projectChanges' }, { $inc: { value: 1 } }, { upsert: true });
  // One follower takes number 1 and is suspended; another takes number 2 and writes it.
  await take();
  await take();
  await numbered(two._id, 2);
  const first = await changes.next();
  await numbered(one._id, 1);
  const seen = [...(first ?? []), ...((await changes.next()) ?? [])].map(({ _id }) => _id);
  t.same(new Set(seen), new Set([one._id, two._id]));

  const three = await projects.create(newProject);
  await take();
  await numbered(three._id, 3);
  t.match(await changes.next(), [{ _id: three._id }], 'nor a change that no poll saw pending');

  await counter.updateOne({ _id: 'projectChanges' }, { $inc: { value: -2 } });
  t.equal(await changes.next(), null, 'changes are unknown after the counter went back');
});

t.test('every concurrent follower gets the last of many concurrent changes', async (t) => {
  const { projects } = await testProjects(t);
  const made = await Promise.all(numbered(5, () => projects.create(newProject)));
  let changing = true;
  const follow = async () => {
    const changes = projects.followChanges();
    await changes.next();
    const told = new Map(made.map(({ _id }) => [_id, 1]));
    for (let rest = 4; rest > 0; rest -= changing ? 0 : 1) {
      for (const { _id, revision } of (await changes.next()) ?? []) {
        told.set(_id, Math.max(told.get(_id) ?? 0, revision));
      }
      await sleep(Math.random() * 5);
    }
    return told;
  };
  const followers = numbered(3, follow);
  await sleep(0);
  await Promise.all(
    made.map(async ({ _id }) => {
      for (let turn = 0; turn < 30; turn++) {
        await projects.addHost(_id, `${turn}.example`);
        await sleep(Math.random() * 10);
      }
    }),
  );
  changing = false;
  for (const told of await Promise.all(followers)) {
    t.same([...told.values()], Array(made.length).fill(31));
  }
});

t.test("the date of a change is that of the store's clock", async (t) => {
  const { projects } = await testProjects(t);
  const { now } = Date;
  const RealDate = Date;
  t.teardown(() => {
    globalThis.Date = RealDate;
  });
  const anHour = 3_600_000;
  // The clock of this process is an hour ahead.
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [number]) {
      super(given[0] ?? now() + anHour);
    }
  } as DateConstructor;
  const made = await projects.create(newProject);
  globalThis.Date = RealDate;
  t.ok(Math.abs(made.changedAt.getTime() - now()) < anHour / 2);
  t.same(await projects.find(made._id), made);
});
