import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import t from 'tap';
import { until } from '../../until.ts';
import { testDatabase } from '../connection.ts';
import { remainingLines, spawnScript } from './children.ts';

const jobCount = 100;

t.test('two workers run each job exactly once', async (t) => {
  const { db, url, databaseName } = await testDatabase(t);
  const agenda = new Agenda({ backend: new MongoBackend({ mongo: db }) });
  await agenda.ready;
  for (let n = 0; n < jobCount; n += 1) await agenda.now('count', { n });
  const workers = [1, 2].map(() => spawnScript(t, 'agenda-worker', [url, databaseName]));
  const ran = Promise.all(workers.map(remainingLines));
  const jobs = db.collection('agendaJobs');
  const finished = () => jobs.countDocuments({ lastFinishedAt: { $ne: null } });
  await until('all jobs are finished', async () => (await finished()) === jobCount);
  for (const worker of workers) worker.process.stdin?.end();
  const numbers = (await ran).flat().map(Number);
  t.same(
    numbers.sort((a, b) => a - b),
    Array.from({ length: jobCount }, (_, n) => n),
  );
  t.equal((await agenda.queryJobs({ name: 'count', state: 'completed' })).total, jobCount);
});

t.test('the queue can be queried and changed', async (t) => {
  const { db } = await testDatabase(t);
  const agenda = new Agenda({ backend: new MongoBackend({ mongo: db }) });
  await agenda.ready;
  const later = new Date(Date.now() + 3_600_000);
  await agenda.schedule(later, 'mail', { to: 'a', options: { html: true } });
  await agenda.schedule(later, 'mail', { to: 'b' });
  await agenda.create('report', { week: 1 }).unique({ 'data.week': 1 }).schedule(later).save();
  await agenda.create('report', { week: 1 }).unique({ 'data.week': 1 }).schedule(later).save();
  await agenda.every('1 hour', 'tidy');
  await agenda.every('2 hours', 'tidy');

  const total = async (options: Parameters<typeof agenda.queryJobs>[0]) =>
    (await agenda.queryJobs(options)).total;
  t.equal(await total({}), 4, 'unique and repeated jobs exist once');
  t.equal(await total({ name: 'mail', data: { options: { html: true } } }), 1);
  t.equal(await total({ search: 'MAI' }), 2);
  t.equal(await total({ names: ['mail', 'report'], sort: { nextRunAt: 'asc' }, limit: 2 }), 3);
  t.equal(await total({ includeDisabled: false }), 4);
  t.equal(await agenda.disable({ name: 'mail' }), 2);
  t.equal(await total({ includeDisabled: false }), 2);
  t.equal(await agenda.enable({ name: 'mail' }), 2);
  const overview = await agenda.getJobsOverview();
  t.same(overview.map(({ name, total }) => [name, total]).sort(), [
    ['mail', 2],
    ['report', 1],
    ['tidy', 1],
  ]);
  const { jobs } = await agenda.queryJobs({ name: 'mail' });
  const ids = jobs.map(({ _id }) => String(_id));
  t.equal(await agenda.disable({ ids }), 2);
  t.equal(await agenda.cancel({ ids: ids.slice(1) }), 1);
  t.equal(await total({ ids }), 1);
});
