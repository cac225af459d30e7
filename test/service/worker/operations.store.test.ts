import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { temporaryRoot } from '../../temporary-root.ts';
import { until } from '../../until.ts';
import { json, startService } from '../service.ts';
import { startWorker, type Worker } from './worker.ts';

const credentials = {
  SERVICE_WORKBENCH_USERNAME: 'operator',
  SERVICE_WORKBENCH_PASSWORD: 'a pass:word',
};
const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});
const ready = (worker: Worker) =>
  until('ready', async () => (await worker.get('/health/ready')).status === 200);
const listening = (worker: Worker) => worker.untilLogged('the operations server listens');

/** fetch sets Host itself. */
const statusFor = (url: string, host: string, headers = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject).end();
  });

const embedded = !process.env['SERVICE_MONGODB_URL'];
t.test('a worker starts before the service', async (t) => {
  const dataDir = await mkdtemp(join(temporaryRoot, 'image-delivery-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const environment = { PATH: process.env['PATH'] ?? '', SERVICE_DATA_DIR: dataDir };
  const alone = await startWorker(t, { dataDir, environment });
  await listening(alone);

  await t.test('it waits for the owner of the embedded store', { skip: !embedded }, async (t) => {
    const live = await alone.get('/health/live');
    t.same([live.status, live.body], [200, { ok: true, status: 'live' }]);
    const store = { ok: false, latencyMs: null };
    const expected = {
      ok: false,
      status: 'unavailable',
      checks: { queue: { ok: false }, store },
    };
    for (const path of ['/health/ready', '/health']) {
      const answer = await alone.get(path);
      t.same([answer.status, answer.body], [503, expected], path);
    }
    const details = await alone.get('/health/details');
    t.equal(details.status, 503);
    t.match(details.body.queue, { active: null, oldestWaitingMs: null, averageRunMs: null });
    const workbench = await alone.get('/workbench/');
    t.match([workbench.status, workbench.body.code], [503, 'store_unavailable']);
    t.equal((await alone.get('/metrics')).status, 200);
  });

  const service = await startService(t, { dataDir, environment: { SERVICE_POOL_THREADS: '1' } });
  const worker = embedded ? alone : await startWorker(t, service);
  await ready(worker);

  await t.test('responses of the operations server', async (t) => {
    for (const path of ['/health/ready', '/health']) {
      const { status, body, headers } = await worker.get(path);
      t.equal(status, 200);
      t.match(body, {
        ok: true,
        status: 'ready',
        checks: { queue: { ok: true }, store: { ok: true } },
      });
      t.type(body.checks.store.latencyMs, 'number');
      t.equal(headers.get('cache-control'), 'no-store');
    }
    const details = await worker.get('/health/details');
    t.equal(details.status, 200);
    t.match(details.body, {
      ok: true,
      status: 'ready',
      checks: { queue: { ok: true }, store: { ok: true } },
      queue: {
        active: 0,
        waiting: 0,
        delayed: 0,
        failed: 0,
        oldestWaitingMs: 0,
        averageRunMs: null,
        concurrency: 4,
      },
      environment: { node: process.version, versions: { v8: String }, pid: worker.process.pid },
      uptimeSeconds: Number,
    });
    t.match(details.body.environment.host, /./);
    const metrics = await worker.get('/metrics');
    t.match(metrics.headers.get('content-type'), /^text\/plain/);
    t.match(metrics.text, /^# TYPE prewarm_job_duration_seconds histogram$/m);
    // A rule of promtool.
    t.notMatch(metrics.text, /^# TYPE \w+_total (?!counter$)/m);

    for (const [host, status] of [
      ['localhost', 200],
      ['[::1]:9', 200],
      ['rebound.example', 403],
    ] as const) {
      t.equal(await statusFor(`${worker.url}/metrics`, host), status, host);
      t.equal(await statusFor(`${worker.url}/health/details`, host), status, host);
      t.equal(
        await statusFor(`${worker.url}/health/ready`, host),
        200,
        'a probe may have any host',
      );
    }

    const errors: ReadonlyArray<readonly [path: string, status: number, code: string]> = [
      ['/', 404, 'endpoint_not_found'],
      ['/health/', 404, 'endpoint_not_found'],
      ['/nothing', 404, 'endpoint_not_found'],
      ['/%zz', 400, 'invalid_request'],
    ];
    for (const [path, status, code] of errors) {
      const { body, ...answer } = await worker.get(path);
      t.equal(answer.status, status, path);
      t.same(Object.keys(body).sort(), ['code', 'error', 'message', 'resolution_hint']);
      t.equal(body.code, code);
    }
  });

  await t.test('without credentials the workbench is only for this machine', async (t) => {
    const page = await worker.get('/workbench/');
    t.equal(page.status, 200);
    t.match(page.headers.get('content-type'), /^text\/html/);
    for (const path of ['/workbench/', '/workbench/index.html', '/workbench/nothing']) {
      const { headers } = await worker.get(path);
      const policy = headers.get('content-security-policy');
      t.match(policy, /^default-src 'self';.* frame-ancestors 'none'$/, path);
      t.equal(headers.get('x-frame-options'), 'DENY', path);
    }
    t.equal((await worker.get('/workbench')).headers.get('location'), '/workbench/');
    const { port } = new URL(worker.url);
    t.equal(await statusFor(`${worker.url}/workbench/`, `localhost:${port}`), 200);
    t.equal(await statusFor(`${worker.url}/workbench/`, `[::1]:${port}`), 200);
    // DNS rebinding: a page on another name of this address must not reach the queue.
    for (const host of ['rebound.example', '127.0.0.1.nip.example']) {
      t.equal(await statusFor(`${worker.url}/workbench/`, host), 403, host);
    }
    // A proxy on this machine forwards requests of clients elsewhere.
    for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'Via', 'X-Real-IP']) {
      const status = await statusFor(`${worker.url}/workbench/`, `localhost:${port}`, {
        [name]: 'a',
      });
      t.equal(status, 403, name);
    }
    t.equal(await worker.end('SIGTERM'), 0);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200, 'the service continues');
  });

  await t.test('with credentials the workbench requires them', async (t) => {
    const guarded = await startWorker(t, service, credentials);
    await ready(guarded);
    const wrong = [
      {},
      basic('operator:wrong'),
      basic('somebody:a pass:word'),
      basic('operator'),
      basic(':'),
      { authorization: 'Basic %%%' },
      { authorization: 'Bearer a pass:word' },
    ];
    for (const headers of wrong) {
      for (const path of ['/workbench', '/workbench/', '/workbench/api', '/workbench/nothing']) {
        const answer = await guarded.get(path, headers);
        t.equal(answer.status, 401, `${path} ${JSON.stringify(headers)}`);
        t.match(answer.headers.get('www-authenticate'), /^Basic realm=/);
        t.equal(answer.body.code, 'workbench_unauthorized');
      }
    }
    const right = basic('operator:a pass:word');
    t.equal((await guarded.get('/workbench/', right)).status, 200);
    const api = await guarded.get('/workbench/api?limit=10', right);
    t.equal(api.status, 200);
    t.same(api.body.jobs, []);

    const post = async (path: string, headers: Record<string, string>) => {
      const type = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers: { ...type, ...headers }, body: '{' };
      const answer = await fetch(`${guarded.url}${path}`, init);
      return [answer.status, (await json(answer)).code];
    };
    for (const path of ['/workbench/nothing', '/workbench/api/jobs/delete']) {
      t.same(await post(path, {}), [401, 'workbench_unauthorized'], path);
    }
    const nothing = await guarded.get('/workbench/nothing', right);
    t.same([nothing.status, nothing.body.code], [404, 'endpoint_not_found']);
    t.same(await post('/workbench/api/jobs/delete', right), [400, 'invalid_request']);
    t.equal((await guarded.get('/health')).status, 200, 'health needs no credentials');
  });

  await t.test('one of the two credentials alone is an error', async (t) => {
    for (const [name, value] of Object.entries(credentials)) {
      const refused = await startWorker(t, service, { [name]: value });
      t.equal(await refused.end(null), 1);
      t.match(refused.stderr(), /SERVICE_WORKBENCH_(USERNAME|PASSWORD)/);
      t.notMatch(refused.stderr(), value);
    }
  });
});
