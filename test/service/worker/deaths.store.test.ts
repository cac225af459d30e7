import t from 'tap';
import { until } from '../../until.ts';
import { startControl } from '../control/control.ts';
import { held } from '../held-reply.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { fetchCache, startWorker } from './worker.ts';

t.test('continues jobs of killed and stopped workers', async (t) => {
  const origin = await startTestOrigin(t);
  const source = held(await picture(300, 200));
  const paths = ['/1.jpg', '/2.jpg', '/3.jpg'];
  for (const path of paths) origin.serve(path, source.reply);
  const control = await startControl(t, { SERVICE_POOL_THREADS: '1' });
  const { service, store } = control;
  const jobs = store.db.collection('jobs');
  const running = { lockedAt: { $ne: null } };
  const waiting = { nextRunAt: { $ne: null } };
  const project = await control.project();
  const sources = paths.map((path) => origin.url + path);
  const json = { sources, widths: [40, 50], formats: ['webp'] };
  t.equal((await control.call('POST', `/projects/${project}/prewarm`, { json })).status, 202);
  const start = () => startWorker(t, service, { SERVICE_WORKER_CONCURRENCY: '2' });

  const killed = await start();
  await until('two fetches', () => source.waiting === 2);
  t.equal(await killed.end('SIGKILL'), 'SIGKILL');
  t.equal(await jobs.countDocuments(running), 2, 'the jobs are still locked');
  await until('the fetches are cancelled', () => source.waiting === 0);
  // Instead of waiting for the locks to expire, up to 10 s after their renewal.
  await jobs.updateMany(running, { $set: { lockedAt: new Date(Date.now() - 9_000) } });

  const stopped = await start();
  await until('two fetches', () => source.waiting === 2);
  t.equal(await stopped.end('SIGTERM'), 0);
  // The worker must not wait for the source.
  await stopped.untilLogged('job released for later', 2);
  t.equal(await jobs.countDocuments(running), 0);
  t.equal(await jobs.countDocuments(waiting), 3);
  t.equal((await stopped.get('/health/live')).status, 0, 'the listener is closed');
  source.release();

  const last = await start();
  await last.untilLogged('source prewarmed', 3);
  for (const path of paths) {
    for (const width of [40, 50]) {
      const url = `${service.url}/img/${origin.url}${path}?project=${project}`;
      t.match(await fetchCache(`${url}&w=${width}&fmt=webp`), /^(memory|disk)$/);
    }
  }
  // The worker saves a job's state after it writes the log line.
  const left = () => jobs.countDocuments({ $or: [running, waiting] });
  await until('no job is left', async () => (await left()) === 0);
  t.equal(await jobs.countDocuments({ failCount: { $gt: 0 } }), 0);
});
