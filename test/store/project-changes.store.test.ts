import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { StoredProject } from '../../store/project-changes.ts';
import { type NewProject, type Project, Projects } from '../../store/projects.ts';
import { testDatabase } from './connection.ts';

const input: NewProject = {
  orgId: 'org_1',
  name: 'Shop',
  origin: 'https://pictures.example.com',
  allowedOrigins: [],
};

async function projectsIn(t: Test): Promise<Projects> {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  await projects.ensureIndexes();
  return projects;
}

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test('50 hosts added at once are all there, and each is one revision', async (t) => {
  const projects = await projectsIn(t);
  const { _id } = await projects.create(input);
  const hosts = numbered(50, (index) => `host-${index}.example`);
  const answers = await Promise.all(hosts.map((host) => projects.addHost(_id, host)));
  const after = await projects.find(_id);
  t.same([...(after?.allowedOrigins ?? [])].sort(), hosts.sort());
  t.equal(after?.revision, 51);
  const revisions = answers.map((answer) => answer?.revision ?? 0).sort((a, b) => a - b);
  t.same(
    revisions,
    numbered(50, (index) => index + 2),
    'and each answer shows its own',
  );
});

t.test('hosts added, hosts removed and settings changed at once lose nothing', async (t) => {
  const projects = await projectsIn(t);
  const old = numbered(25, (index) => `old-${index}.example`);
  const young = numbered(25, (index) => `new-${index}.example`);
  const { _id } = await projects.create({ ...input, allowedOrigins: old });
  const fields: Partial<Project>[] = [
    { defaultQuality: 31 },
    { watermarkMargin: 7 },
    { maxWidth: 1_234 },
    { autoFormat: false },
  ];
  await Promise.all([
    ...old.map((host) => projects.removeHost(_id, host)),
    ...young.map((host) => projects.addHost(_id, host)),
    ...fields.map((settings) => projects.updateSettings(_id, settings)),
    ...young.map((host) => projects.addHost(_id, host)),
  ]);
  const after = await projects.find(_id);
  t.same([...(after?.allowedOrigins ?? [])].sort(), young.sort());
  t.match(after, { defaultQuality: 31, watermarkMargin: 7, maxWidth: 1_234, autoFormat: false });
  t.equal(after?.revision, 1 + 25 + 25 + 4 + 25);
});

t.test('50 projects made at once are 50 projects', async (t) => {
  const projects = await projectsIn(t);
  const made = await Promise.all(numbered(50, () => projects.create(input)));
  t.equal(new Set(made.map(({ _id }) => _id)).size, 50);
  t.equal((await projects.list()).length, 50);
});

t.test('who follows the changes is told each of them, and is not told for ever', async (t) => {
  const projects = await projectsIn(t);
  const changes = projects.followChanges();
  t.equal(await changes.next(), null, 'nothing can be told of the time before');
  t.same(await changes.next(), []);
  const { _id } = await projects.create(input);
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

t.test('a number that is written after a later one is not missed', async (t) => {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  const changes = projects.followChanges();
  await changes.next();
  const [one, two] = [await projects.create(input), await projects.create(input)];
  const numbered = (_id: string, changeNumber: number) =>
    db
      .collection<StoredProject>('projects')
      .updateOne({ _id }, { $set: { changeNumber }, $unset: { changePending: '' } });
  const counter = db.collection<{ _id: string; value: number }>('counters');
  const take = () =>
    counter.updateOne({ _id: 'projectChanges' }, { $inc: { value: 1 } }, { upsert: true });
  // Somebody who has taken number 1 pauses, while another takes number 2 and writes it.
  await take();
  await take();
  await numbered(two._id, 2);
  const first = await changes.next();
  await numbered(one._id, 1);
  const seen = [...(first ?? []), ...((await changes.next()) ?? [])].map(({ _id }) => _id);
  t.same(new Set(seen), new Set([one._id, two._id]));

  const three = await projects.create(input);
  await take();
  await numbered(three._id, 3);
  t.match(await changes.next(), [{ _id: three._id }], 'nor one that was never seen pending');

  await counter.updateOne({ _id: 'projectChanges' }, { $inc: { value: -2 } });
  t.equal(await changes.next(), null, 'a counter that went back tells nothing');
});

t.test('many who change and follow at once: every follower is told of the last', async (t) => {
  const projects = await projectsIn(t);
  const made = await Promise.all(numbered(5, () => projects.create(input)));
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

t.test("a change has the store's date, whatever the clock of who made it", async (t) => {
  const projects = await projectsIn(t);
  const { now } = Date;
  const RealDate = Date;
  t.teardown(() => {
    globalThis.Date = RealDate;
  });
  const anHour = 3_600_000;
  // This process believes that it is an hour later.
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [number]) {
      super(given[0] ?? now() + anHour);
    }
  } as DateConstructor;
  const made = await projects.create(input);
  globalThis.Date = RealDate;
  t.ok(Math.abs(made.changedAt.getTime() - now()) < anHour / 2);
  t.same(await projects.find(made._id), made);
});
