import t from 'tap';
import { until } from '../../until.ts';
import { startControl } from '../control/control.ts';
import { held } from '../held.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { cacheOf, startWorker } from './worker.ts';

t.test('the jobs of a worker that ends are continued', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(300, 200);
  let source = held(body);
  const paths = ['/1.jpg', '/2.jpg', '/3.jpg'];
  for (const path of paths) origin.serve(path, source.reply);
  const control = await startControl(t, { SERVICE_POOL_THREADS: '1' });
  const { service, store } = control;
  const jobs = store.db.collection('jobs');
  const project = await control.project();
  const prewarm = async (formats: readonly string[]) => {
    const sources = paths.map((path) => origin.url + path);
    const json = { sources, widths: [40, 50], formats };
    t.equal((await control.call('POST', `/projects/${project}/prewarm`, { json })).status, 202);
  };
  const running = { lockedAt: { $ne: null } };
  const waiting = { nextRunAt: { $ne: null } };
  const checkWarm = async (format: string) => {
    for (const path of paths) {
      for (const width of [40, 50]) {
        const url = `${service.url}/img/${origin.url}${path}?project=${project}`;
        t.match(await cacheOf(`${url}&w=${width}&fmt=${format}`), /^(memory|disk)$/);
      }
    }
    // A job's state is saved after the line in the log.
    const left = () => jobs.countDocuments({ $or: [running, waiting] });
    await until('no job is left', async () => (await left()) === 0);
    t.equal(await jobs.countDocuments({ failCount: { $gt: 0 } }), 0);
  };
  const start = () => startWorker(t, service, { SERVICE_WORKER_CONCURRENCY: '2' });
  let worker = await start();

  await t.test('killed', async (t) => {
    await prewarm(['webp']);
    await until('two fetches', () => source.waiting === 2);
    t.equal(await worker.end('SIGKILL'), 'SIGKILL');
    t.equal(await jobs.countDocuments(running), 2, 'the jobs are still locked');
    source.release();
    // Instead of waiting for the locks to expire, up to 10 s after their renewal.
    await jobs.updateMany(running, { $set: { lockedAt: new Date(Date.now() - 9_000) } });
    const next = await start();
    await next.untilLogged('a source is warm', 3);
    await checkWarm('webp');
    worker = next;
  });

  await t.test('asked to stop', async (t) => {
    // Other paths, because sources are cached for a few seconds.
    source = held(body);
    for (const path of paths.splice(0)) {
      paths.push(`/again${path}`);
      origin.serve(`/again${path}`, source.reply);
    }
    await prewarm(['png']);
    await until('two fetches', () => source.waiting === 2);
    t.equal(await worker.end('SIGTERM'), 0);
    t.equal(
      worker.logged('a job was released for later').length,
      2,
      'without waiting for the source',
    );
    t.equal(await jobs.countDocuments(running), 0, 'its jobs are released at once');
    t.equal(await jobs.countDocuments(waiting), 3);
    t.equal((await worker.get('/health/live')).status, 0, 'the listener is closed');
    source.release();
    const next = await start();
    await next.untilLogged('a source is warm', 3);
    await checkWarm('png');
  });
});
