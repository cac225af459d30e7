import t from 'tap';
import { createAgenda } from '../../../store/agenda.ts';
import { testDatabase } from '../connection.ts';

t.test('lets an Agenda query and change its jobs', async (t) => {
  const { db } = await testDatabase(t);
  const agenda = createAgenda(db);
  await agenda.ready;
  const later = new Date(Date.now() + 3_600_000);
  await agenda.schedule(later, 'mail', { to: 'a', options: { html: true } });
  await agenda.schedule(later, 'mail', { to: 'b' });
  for (let i = 0; i < 2; i += 1) {
    await agenda.create('report', { week: 1 }).unique({ 'data.week': 1 }).schedule(later).save();
  }
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
  const totals = Object.fromEntries(overview.map(({ name, total }) => [name, total]));
  t.same(totals, { mail: 2, report: 1, tidy: 1 });
  const { jobs } = await agenda.queryJobs({ name: 'mail' });
  const ids = jobs.map(({ _id }) => String(_id));
  t.equal(await agenda.disable({ ids }), 2);
  t.equal(await agenda.cancel({ ids: ids.slice(1) }), 1);
  t.equal(await total({ ids }), 1);
});
