import t from 'tap';
import { type PrewarmStatus, Prewarms } from '../../../store/prewarms.ts';
import { type ProjectRecord, ProjectRecords } from '../../../store/records.ts';
import { testDatabase } from '../../store/connection.ts';
import { prewarmCall, prewarmJob } from '../../store/prewarm-job.ts';
import { until } from '../../until.ts';
import { apiErrorText } from '../../worker/listener.ts';
import { startQueue } from '../../worker/queue.ts';
import { storeLink } from '../store-link.ts';

const projectId = 'prj_0123456789abcdef';
const findJob = (path: string) =>
  prewarmJob({
    projectId,
    source: `https://a.example/${path}`,
    variants: ['fmt=webp&w=100', 'fmt=webp&w=200'],
  });

t.test(
  'reports a prewarm request as accepted, then as done or failed with the reasons',
  async (t) => {
    const { db, listener, consume } = await startQueue(t);
    const prewarms = new Prewarms(db);
    await prewarms.ensureIndexes();
    listener.answer((target) =>
      target.includes('missing')
        ? [404, apiErrorText('source_not_found', 'It is not there.')]
        : target.includes('busy') && target.includes('200')
          ? [503, apiErrorText('overloaded', 'Too many.')]
          : target.includes('slow')
            ? () => {}
            : [204],
    );
    const add = (...paths: string[]) => prewarms.add(prewarmCall(paths.map(findJob)));
    const find = async (id: string) => (await prewarms.find(projectId, id)) as PrewarmStatus;

    const good = await add('a');
    const both = await add('a', 'missing');
    const retried = await add('busy');
    const stuck = await add('slow');
    t.match(await find(both), {
      id: both,
      status: 'accepted',
      progress: 0,
      sourceCount: 2,
      variantCount: 4,
      sources: { waiting: 2, running: 0, done: 0, failed: 0 },
      failures: [],
    });
    const consumer = await consume();
    const ended = await until('the end', async () => {
      const status = await find(both);
      return status.status !== 'accepted' && status;
    });
    t.match(ended, {
      status: 'failed',
      progress: 100,
      sources: { waiting: 0, running: 0, done: 1, failed: 1 },
    });
    t.match(ended.failures, [
      { source: 'https://a.example/missing', reason: /404 source_not_found: It is not there/ },
    ]);
    t.match(await find(good), { status: 'done', progress: 100 }, 'an equal job counts for both');
    await until('it runs', async () => (await find(stuck)).sources.running === 1);
    const busy = await until('a failed attempt', async () => {
      const status = await find(retried);
      return status.progress > 0 && status.sources.waiting === 1 && status;
    });
    t.match(busy, { status: 'accepted', progress: 50, failures: [] }, 'it is retried');
    t.equal(await prewarms.find('prj_another000000', good), null);
    t.equal(await find('pre_0000000000000000'), null);

    const again = await add('slow');
    await consumer.stop(10_000);
    for (const id of [stuck, again]) {
      t.match(await find(id), { status: 'accepted', sources: { waiting: 1 } }, 'now one job');
    }
    t.equal(await db.collection('jobs').countDocuments({ nextRunAt: { $gt: new Date(0) } }), 2);
    await db.collection('jobs').deleteMany({});
    t.match(await find(stuck), { status: 'failed', sources: { failed: 1 }, failures: [] });
  },
);

t.test("finds a prewarm request's jobs by an index", async (t) => {
  const { db } = await storeLink(t);
  await startQueue(t, db);
  const prewarms = new Prewarms(db);
  await prewarms.ensureIndexes();
  const id = await prewarms.add(prewarmCall([findJob('a'), findJob('b')]));
  await db.collection('jobs').deleteMany({ 'data.source': findJob('a').source });
  const fields: string[] = [];
  db.client.on('commandStarted', ({ command }) => {
    if (command['find'] === 'jobs') fields.push(Object.keys(command['filter']).join());
  });
  t.match(await prewarms.find(projectId, id), { sources: { waiting: 1, failed: 1 } });
  // The project index starts with the name.
  t.same(fields, ['_id', 'name,data.projectId,data.fingerprint']);
});

t.test("keeps a project's most recent prewarm requests, up to a number", async (t) => {
  const { db } = await testDatabase(t);
  const records = new ProjectRecords<ProjectRecord>(db, 'calls', 3);
  await records.ensureIndexes();
  const now = Date.now();
  const add = (number: number, id = projectId) =>
    records.add({ _id: `${id}-${number}`, projectId: id, createdAt: new Date(now + number) });
  await add(1, 'prj_another000000');
  for (let number = 1; number <= 5; number += 1) await add(number);
  const left = await db.collection('calls').find().toArray();
  const ids = left.map(({ _id }) => String(_id));
  const kept = [3, 4, 5].map((number) => `${projectId}-${number}`);
  t.same(ids.sort(), [...kept, 'prj_another000000-1']);
});
