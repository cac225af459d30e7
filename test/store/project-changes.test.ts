import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
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

t.test('who follows the changes sees each of them, the oldest first', async (t) => {
  const projects = await projectsIn(t);
  t.equal(await projects.latestChange(), null);
  t.same(await projects.changesSince(new Date(0)), []);

  const [a, b, c] = [
    await projects.create(input),
    await projects.create(input),
    await projects.create(input),
  ];
  await sleep(5);
  await projects.updateSettings(b._id, { maxWidth: 1 });
  await sleep(5);
  const last = await projects.addHost(a._id, 'a.example');
  t.same(await projects.latestChange(), last?.changedAt);

  const changes = await projects.changesSince(new Date(0));
  t.same(
    changes.map(({ _id, revision }) => [_id, revision]),
    [
      [c._id, 1],
      [b._id, 2],
      [a._id, 2],
    ],
  );
  t.same(Object.keys(changes[0] ?? {}).sort(), ['_id', 'changedAt', 'revision']);
  const since = await projects.changesSince(last?.changedAt ?? new Date(0));
  t.same(
    since.map(({ _id }) => _id),
    [a._id],
    'the date itself is included',
  );
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
