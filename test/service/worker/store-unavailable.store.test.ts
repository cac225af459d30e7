import t from 'tap';
import { storeLink } from '../../server/store-link.ts';
import { until } from '../../until.ts';
import { startControl } from '../control/control.ts';
import { held } from '../held-reply.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { freePort } from '../service.ts';
import { fetchCache, startWorker } from './worker.ts';

t.test('ends a worker that waits for the store on SIGTERM', async (t) => {
  const environment = { SERVICE_MONGODB_URL: `mongodb://127.0.0.1:${await freePort()}/` };
  const worker = await startWorker(t, { dataDir: t.testdir(), environment });
  await until('a log line', () => worker.log.some(({ msg }) => /ECONNREFUSED/.test(msg)));
  t.equal(await worker.end('SIGTERM'), 0);
});

t.test('starts a worker during a store outage, and survives another', async (t) => {
  const link = await storeLink(t);
  const [{ port = 0 } = {}] = link.db.client.options.hosts;
  const origin = await startTestOrigin(t);
  const source = held(await picture(300, 200));
  const paths = ['/1.jpg', '/2.jpg', '/3.jpg'];
  for (const path of paths) origin.serve(path, source.reply);
  const control = await startControl(t, {
    SERVICE_POOL_THREADS: '1',
    SERVICE_MONGODB_URL: `mongodb://127.0.0.1:${port}/${link.db.databaseName}`,
  });
  const { service } = control;
  const project = await control.project();
  const sources = paths.map((path) => origin.url + path);
  const json = { sources, widths: [40, 50], formats: ['webp'] };
  await control.call('POST', `/projects/${project}/prewarm`, { json });

  await link.cut();
  const worker = await startWorker(t, service, { SERVICE_WORKER_CONCURRENCY: '2' });
  const logged = (pattern: RegExp) => worker.log.filter(({ msg }) => pattern.test(msg)).length;
  const unavailable = (count: number) =>
    until('an outage', () => logged(/^store unavailable: /) === count);
  const available = (count: number) =>
    until('its end', () => logged(/^store available after [\d.]+ s$/) === count);
  await unavailable(1);
  t.equal(logged(/refuses connections \(ECONNREFUSED\)/), 1);
  t.match(await worker.get('/health/ready'), {
    status: 503,
    body: { status: 'unavailable', checks: { queue: { ok: false } } },
  });
  await link.mend();
  await available(1);
  await until('ready', async () => (await worker.get('/health/ready')).status === 200);
  await until('two fetches', () => source.waiting === 2);
  const { queue: known } = (await worker.get('/health/details')).body;
  t.match(known, { active: 2, waiting: 1, status: 'ok' });

  await link.cut();
  const unready = await until('not ready', async () => {
    const response = await worker.get('/health/ready');
    return response.status === 503 && response;
  });
  t.match(unready.body, {
    ok: false,
    status: 'unavailable',
    checks: { queue: { ok: true }, store: { ok: false, latencyMs: null } },
  });
  t.equal((await worker.get('/health/live')).status, 200, 'it is still alive');
  const [details, metrics, health] = await Promise.all([
    worker.get('/health/details'),
    worker.get('/metrics'),
    fetch(`${service.url}/api/health`),
  ]);
  t.equal(details.status, 503);
  t.same(details.body.queue, { ...known, status: 'unknown' });
  t.equal(metrics.status, 200);
  t.match(metrics.text, /^process_cpu_seconds_total /m, 'metrics that do not need the store');
  t.equal(health.status, 503);
  t.match(await health.json(), {
    ok: false,
    status: 'unavailable',
    checks: {
      database: { ok: false },
      prewarmQueue: { active: Number, failed: Number, status: 'unknown' },
    },
  });

  await unavailable(2);
  await link.mend();
  await until('ready', async () => (await worker.get('/health')).status === 200);
  await available(2);
  t.equal(logged(/^store (un)?available/), 4, 'each is logged once');
  source.release();
  const jobs = link.other.collection('jobs');
  // Progress counts failed images too, which a later attempt warms.
  const done = { 'data.counts.done': 2, lockedAt: null };
  await until('all are done', async () => (await jobs.countDocuments(done)) === 3);
  for (const path of paths) {
    for (const width of [40, 50]) {
      const url = `${service.url}/img/${origin.url}${path}?project=${project}`;
      t.match(await fetchCache(`${url}&w=${width}&fmt=webp`), /^(memory|disk)$/);
    }
  }
  t.equal(await worker.end('SIGTERM'), 0, 'in the same process');
});
