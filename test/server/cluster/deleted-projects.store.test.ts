import t, { type Test } from 'tap';
import { completeDeletions } from '../../../server/cluster/deleted-projects.ts';
import { StoreUnavailable } from '../../../store/outage.ts';
import { ProjectDocuments } from '../../../store/project-documents.ts';
import type { Project } from '../../../store/projects.ts';
import { UsageRecords } from '../../../store/usage.ts';
import { newProject, testProjects } from '../../store/projects.ts';
import { until } from '../../until.ts';

/** Completes deletions of a test database, with short pauses. */
async function start(t: Test, fails = (_: Project): void => {}) {
  const { db, projects } = await testProjects(t);
  const stopping = new AbortController();
  const warnings: unknown[] = [];
  const deleted = new Map<string, number>();
  const completing = () =>
    completeDeletions({
      projects,
      documents: new ProjectDocuments(db),
      onDeleted: (project) => {
        deleted.set(project._id, (deleted.get(project._id) ?? 0) + 1);
        fails(project);
      },
      log: { warn: (...line: unknown[]) => void warnings.push(line) },
      signal: stopping.signal,
      pauseMs: 10,
    });
  const end = () => stopping.abort();
  t.teardown(end);
  const usage = new UsageRecords(db);
  const use = (project: string) =>
    usage.write([{ project, date: '2026-11-20', writer: 'a', counts: { memory: 1 } }]);
  const isUsed = async (project: string) =>
    (await usage.find(project, '2026-11-20', '2026-11-20')).length > 0;
  return { projects, completing, deleted, warnings, end, use, isUsed };
}

t.test('what is written after a deletion is deleted too', async (t) => {
  const { projects, completing, deleted, warnings, end, use, isUsed } = await start(t);
  const [one, other] = [await projects.create(newProject), await projects.create(newProject)];
  for (const { _id } of [one, other]) await use(_id);
  await projects.delete(one._id);
  const ended = completing();
  for (let i = 0; i < 2; i += 1) {
    await until('it is gone', async () => !(await isUsed(one._id)));
    await use(one._id);
  }
  t.same([...deleted.keys()], [one._id]);
  t.ok(await isUsed(other._id), 'that of a project that exists stays');
  end();
  await ended;
  t.same(warnings, []);
});

t.test('earlier deletions are completed once after a start', async (t) => {
  const { projects, completing, deleted } = await start(t);
  const hour = 3_600_000;
  const ages = new Map<string, number>();
  for (const hours of [1, 23, 25]) {
    const { _id } = await projects.create(newProject);
    await projects.delete(_id, () => Date.now() - hours * hour);
    ages.set(_id, hours);
  }
  const { _id: recent } = await projects.create(newProject);
  await projects.delete(recent);
  void completing();
  await until('several looks', () => (deleted.get(recent) ?? 0) > 3);
  t.same(
    [...ages].map(([id, hours]) => [hours, deleted.get(id) ?? 0]),
    [
      [1, 1],
      [23, 1],
      [25, 0],
    ],
  );
});

t.test('an error does not end it, and an outage is not reported again', async (t) => {
  const errors = [new StoreUnavailable('test'), new Error('test')];
  const { projects, completing, warnings, isUsed, use } = await start(t, () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
  });
  const { _id } = await projects.create(newProject);
  await use(_id);
  await projects.delete(_id);
  void completing();
  await until('it is gone', async () => !(await isUsed(_id)));
  t.equal(warnings.length, 1);
});
