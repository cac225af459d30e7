import t from 'tap';
import { ActivityRecords } from '../../store/activity.ts';
import { Callbacks } from '../../store/callbacks.ts';
import { copiedCollections } from '../../store/copy.ts';
import { HostClaims } from '../../store/delivery-host.ts';
import { JobQueue } from '../../store/jobs.ts';
import { Keys } from '../../store/keys.ts';
import { Prewarms } from '../../store/prewarms.ts';
import { Projects, projectCollections } from '../../store/projects.ts';
import { PurgeRepository } from '../../store/purges.ts';
import { UsageRecords } from '../../store/usage.ts';
import { testDatabase } from './connection.ts';
import { prewarmCall, prewarmJob } from './prewarm-job.ts';

t.test("deletes a project's documents, except calls of the purge hook", async (t) => {
  const { db } = await testDatabase(t);
  const queue = new JobQueue(db);
  await queue.ensureIndexes();
  const fill = async (projectId: string) => {
    const job = prewarmJob({ projectId, source: 'https://a.example/' });
    await new Prewarms(db).add(prewarmCall([job], 'https://a.example/'));
    const hook = await new PurgeRepository(db).hold({ projectId, tags: ['p'] }, 'p');
    await new PurgeRepository(db).confirm('1', { projectId, sourceCount: 1, hook });
    const day = { project: projectId, date: '2026-11-20' };
    await new UsageRecords(db).write([{ ...day, writer: 'a', counts: { hits: 1 } }]);
    const activity = { counts: {}, durations: [], sources: [], variants: [], failures: [] };
    const interval = { project: projectId, window: 'day', start: 0, expiresAt: 1e15 };
    await new ActivityRecords(db).write([{ ...interval, writer: 'a', activity }]);
    const key = { name: 'x', orgId: 'org_1', projectId, access: 'write' } as const;
    await new Keys(db).issue(key);
    await new HostClaims(db).claim(`${projectId}.example`, projectId);
  };
  const countJobs = async (id: string) => {
    const counts = projectCollections.map(async ({ name, ofProject }) => {
      return [name, await db.collection(name).countDocuments(ofProject(id))];
    });
    return Object.fromEntries(await Promise.all(counts));
  };
  const all = { keys: 1, hosts: 1, jobs: 2, prewarms: 1, purges: 1, usage: 1, activity: 1 };
  for (const id of ['prj_1', 'prj_10']) await fill(id);
  t.same(await countJobs('prj_1'), all);

  for (let i = 0; i < 2; i += 1) await new Projects(db).deleteDocuments('prj_1');
  t.same(await countJobs('prj_1'), {
    keys: 0,
    hosts: 0,
    jobs: 0,
    prewarms: 0,
    purges: 0,
    usage: 0,
    activity: 0,
  });
  t.same(await countJobs('prj_10'), all, 'those of others stay');
  const left = await db.collection('jobs').find({ 'data.projectId': 'prj_1' }).toArray();
  t.same(
    left.map(({ name }) => name),
    ['purge hook'],
  );
});

t.test('names every collection with project documents', async (t) => {
  const named = projectCollections.map(({ name }) => name);
  const others = Object.keys(copiedCollections).filter((name) => !named.includes(name));
  t.same(others, ['organisations', 'projects']);
});

t.test('treats prewarm jobs as open while they wait or run', async (t) => {
  const { db } = await testDatabase(t);
  const queue = new JobQueue(db);
  await queue.ensureIndexes();
  const sources = ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'];
  const jobs = sources.map((source) => prewarmJob({ projectId: 'prj_1', source }));
  await new Prewarms(db).add(prewarmCall(jobs));
  await new Callbacks(db).add({
    projectId: 'prj_1',
    url: 'https://a.example/',
    subject: 'purge',
    id: '1',
  });
  const states = [
    { nextRunAt: null, lockedAt: new Date() },
    { nextRunAt: null, lastFinishedAt: new Date() },
  ];
  for (const [index, state] of states.entries()) {
    const filter = { 'data.source': sources[index] };
    await db.collection('jobs').updateOne(filter, { $set: state });
  }
  t.equal(await queue.open('prj_1'), 2, 'one waits and one runs');
  t.equal(await queue.open('prj_2'), 0);
});
