import t from 'tap';
import { until } from '../../until.ts';
import { startControl } from '../control/control.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { parseMetrics } from '../scrape.ts';
import { freePort, json } from '../service.ts';
import { startWorker } from './worker.ts';

t.test('sums the figures of all processes in GET /api/health', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/small.jpg', await picture(300, 200));
  const opsPort = await freePort();
  const control = await startControl(t, {
    SERVICE_PROCESSES: '2',
    SERVICE_POOL_THREADS: '1',
    SERVICE_POOL_QUEUE: '3',
    SERVICE_MEMORY_CACHE_BYTES: '33554432',
    SERVICE_DISK_CACHE_BYTES: '104857600',
    SERVICE_OPS_PORT: String(opsPort),
  });
  const project = await control.project();
  // A new connection each time, for both processes to respond.
  const ask = async () => {
    const url = `${control.service.url}/api/health`;
    const response = await fetch(url, { headers: { connection: 'close' } });
    return { status: response.status, headers: response.headers, body: await json(response) };
  };

  const url = `${control.service.url}/img/${origin.url}/small.jpg?project=${project}&w=50`;
  t.equal((await fetch(url)).status, 200);
  // The other process reports its statistics once a second.
  const { status, headers, body } = await until('the stats of both', async () => {
    const answer = await ask();
    const { cache, transformQueue } = answer.body.checks;
    const kept = cache.diskSizeBytes > 0 && cache.memorySizeBytes > 0;
    return transformQueue.concurrency === 2 && transformQueue.active === 0 && kept && answer;
  });
  t.equal(status, 200);
  t.equal(headers.get('cache-control'), 'no-store');
  t.match(headers.get('content-type'), /^application\/json/);
  t.match(body, { ok: true, service: 'image-delivery', status: 'ok' });
  t.equal(new Date(body.timestamp).toISOString(), body.timestamp);
  t.ok(Math.abs(Date.now() - Date.parse(body.timestamp)) < 60_000);
  const { cache, database, prewarmQueue, transformQueue } = body.checks;
  t.match(cache, { diskMaxBytes: 104_857_600, memoryMaxBytes: 33_554_432 });
  t.ok(cache.memorySizeBytes < 33_554_432);
  t.equal(database.ok, true);
  t.match(prewarmQueue, { active: 0, waiting: 0, delayed: 0, queued: 0, failed: 0 });
  t.match(transformQueue, { active: 0, queued: 0, concurrency: 2, maxQueue: 6, rejected: 0 });
  t.equal(transformQueue.status, 'ok');
  const integers = [
    body.uptimeSeconds,
    body.latencyMs,
    database.latencyMs,
    cache.diskSizeBytes,
    cache.memorySizeBytes,
    prewarmQueue.active,
    transformQueue.active,
  ];
  t.same(integers.filter(Number.isInteger), integers);

  t.test('reports whether a worker takes jobs', async (t) => {
    const queue = async () => (await ask()).body.checks.prewarmQueue;
    const metric = async () => {
      const response = await fetch(`http://127.0.0.1:${opsPort}/metrics`);
      return parseMetrics(await response.text()).get('image_delivery_worker_seen');
    };
    t.match(prewarmQueue, { status: 'no_worker', workerSeenAt: null });
    t.equal(await metric(), 0);
    const worker = await startWorker(t, control.service);
    const { workerSeenAt } = await until('ok', async () => {
      const found = await queue();
      return found.status === 'ok' && found;
    });
    t.ok(Math.abs(Date.now() - Date.parse(workerSeenAt)) < 60_000);
    await until('a heartbeat', async () => (await queue()).workerSeenAt > workerSeenAt);
    await until('the metric', async () => (await metric()) === 1);
    await worker.end();
    t.equal((await queue()).status, 'ok', 'a worker may restart');
    const longAgo = new Date(Date.now() - 60_000);
    const deployments = control.store.db.collection('deployments');
    await deployments.updateOne({}, { $set: { workerSeenAt: longAgo } });
    const missing = await until('no worker', async () => {
      const found = await ask();
      return found.body.checks.prewarmQueue.status === 'no_worker' && found;
    });
    t.match(missing, { status: 200, body: { ok: true, status: 'ok' } });
    t.equal(missing.body.checks.prewarmQueue.workerSeenAt, longAgo.toISOString());
  });
});
