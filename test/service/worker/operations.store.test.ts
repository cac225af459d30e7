import { request } from 'node:http';
import t from 'tap';
import { shortFolder } from '../../store/embedded/stores.ts';
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

/** Sends a request with any Host, which fetch would set itself. */
const statusFor = (url: string, host: string, headers = {}, options = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const all = { headers: { host, ...headers }, ...options };
    const outgoing = request(url, all, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.once('error', reject).end();
  });

const embedded = !process.env['SERVICE_MONGODB_URL'];
t.test('starts a worker before the service', async (t) => {
  const dataDir = shortFolder(t);
  const environment = { SERVICE_DATA_DIR: dataDir };
  const alone = await startWorker(t, { dataDir, environment });
  await alone.untilLogged('operations listener started');

  await t.test('waits for the owner of the embedded store', { skip: !embedded }, async (t) => {
    const live = await alone.get('/health/live');
    t.same([live.status, live.body], [200, { ok: true, status: 'live' }]);
    const checks = { queue: { ok: false }, store: { ok: false, latencyMs: null } };
    const expected = { ok: false, status: 'unavailable', checks };
    for (const path of ['/health/ready', '/health']) {
      const { status, body } = await alone.get(path);
      t.same([status, body], [503, expected], path);
    }
    const details = await alone.get('/health/details');
    t.equal(details.status, 503);
    t.match(details.body.queue, { active: 0, oldestWaitingMs: 0, status: 'unknown' });
    const workbench = await alone.get('/workbench/');
    t.match([workbench.status, workbench.body.code], [503, 'store_unavailable']);
    t.equal((await alone.get('/metrics')).status, 200);
  });

  const service = await startService(t, { dataDir, environment: { SERVICE_POOL_THREADS: '1' } });
  const worker = embedded ? alone : await startWorker(t, service);
  await ready(worker);

  await t.test('responds from the operations listener', async (t) => {
    const checks = { queue: { ok: true }, store: { ok: true, latencyMs: Number } };
    const expected = { ok: true, status: 'ready', checks };
    for (const path of ['/health/ready', '/health', '/health/details']) {
      const { status, body, headers } = await worker.get(path);
      t.equal(status, 200);
      t.match(body, expected);
      t.equal(headers.get('cache-control'), 'no-store');
    }
    const counts = { active: 0, waiting: 0, delayed: 0, failed: 0 };
    t.match((await worker.get('/health/details')).body, {
      queue: { ...counts, oldestWaitingMs: 0, averageRunMs: null, concurrency: 4, status: 'ok' },
      environment: {
        node: process.version,
        versions: { v8: String },
        pid: worker.process.pid,
        host: /./,
      },
      uptimeSeconds: Number,
    });
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
      for (const path of ['/metrics', '/health/details']) {
        t.equal(await statusFor(worker.url + path, host), status, `${host} ${path}`);
      }
      const probe = await statusFor(`${worker.url}/health/ready`, host);
      t.equal(probe, 200, 'a probe may have any host');
    }

    for (const [path, status, code] of [
      ['/', 404, 'endpoint_not_found'],
      ['/health/', 404, 'endpoint_not_found'],
      ['/nothing', 404, 'endpoint_not_found'],
      ['/%zz', 400, 'invalid_request'],
    ] as const) {
      const response = await worker.get(path);
      t.match([response.status, response.body.code], [status, code], path);
      const fields = ['code', 'error', 'message', 'resolution_hint'];
      t.same(Object.keys(response.body).sort(), fields);
    }
    const { resolution_hint } = (await worker.get('/healthz')).body;
    t.match(resolution_hint, /^Use \/health\/live, .*, \/metrics or \/workbench\/\.$/);
  });

  await t.test('restricts the workbench to this machine if no credentials exist', async (t) => {
    t.match((await worker.get('/workbench/')).headers.get('content-type'), /^text\/html/);
    for (const path of ['/workbench/', '/workbench/index.html', '/workbench/nothing']) {
      const { headers } = await worker.get(path);
      const policy = headers.get('content-security-policy');
      t.match(policy, /^default-src 'self';.* frame-ancestors 'none'$/, path);
      t.equal(headers.get('x-frame-options'), 'DENY', path);
    }
    t.equal((await worker.get('/workbench')).headers.get('location'), '/workbench/');
    const { port } = new URL(worker.url);
    const workbench = (host: string, headers = {}) =>
      statusFor(`${worker.url}/workbench/`, host, headers);
    t.equal(await workbench(`localhost:${port}`), 200);
    t.equal(await workbench(`[::1]:${port}`), 200);
    // DNS rebinding: a page on another name of this address must not reach the queue.
    for (const host of ['rebound.example', '127.0.0.1.nip.example']) {
      t.equal(await workbench(host), 403, host);
    }
    // A proxy on this machine forwards requests of clients elsewhere.
    for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'Via', 'X-Real-IP']) {
      t.equal(await workbench(`localhost:${port}`, { [name]: 'a' }), 403, name);
    }
    t.equal(await worker.end('SIGTERM'), 0);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200, 'the service continues');
  });

  await t.test('requires configured credentials in the workbench', async (t) => {
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
        const { status, body, headers: sent } = await guarded.get(path, headers);
        t.equal(status, 401, `${path} ${JSON.stringify(headers)}`);
        t.match(sent.get('www-authenticate'), /^Basic realm=/);
        t.equal(body.code, 'workbench_unauthorized');
      }
    }
    const right = basic('operator:a pass:word');
    t.equal((await guarded.get('/workbench/', right)).status, 200);
    // Several versions of @fastify/static let such paths pass a guard.
    for (const [path, status, withCredentials] of [
      ['/%77orkbench/index.html', 401, 200],
      ['/workbench/./index.html', 401, 200],
      ['/workbench//index.html', 401, 200],
      ['/workbench/assets/../index.html', 401, 200],
      ['/workbench/..%2f..%2fpackage.json', 401, 400],
      ['/workbench/../package.json', 401, 400],
      ['/workbench%2Findex.html', 404, 404],
      ['/health/../workbench/index.html', 404, 404],
    ] as const) {
      const statusAt = (headers: Record<string, string>) =>
        statusFor(guarded.url, 'localhost', headers, { path });
      t.same([await statusAt({}), await statusAt(right)], [status, withCredentials], path);
    }
    const api = await guarded.get('/workbench/api?limit=10', right);
    t.same([api.status, api.body.jobs], [200, []]);

    const post = async (path: string, headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers };
      const response = await fetch(guarded.url + path, { method: 'POST', headers: all, body: '{' });
      return [response.status, (await json(response)).code];
    };
    for (const path of ['/workbench/nothing', '/workbench/api/jobs/delete']) {
      t.same(await post(path, {}), [401, 'workbench_unauthorized'], path);
    }
    const nothing = await guarded.get('/workbench/nothing', right);
    t.same([nothing.status, nothing.body.code], [404, 'endpoint_not_found']);
    t.same(await post('/workbench/api/jobs/delete', right), [400, 'invalid_request']);
    t.equal((await guarded.get('/health')).status, 200, 'health needs no credentials');
  });

  await t.test('rejects a single credential', async (t) => {
    for (const [name, value] of Object.entries(credentials)) {
      const refused = await startWorker(t, service, { [name]: value });
      t.equal(await refused.end(null), 1);
      t.match(refused.stderr(), /SERVICE_WORKBENCH_(USERNAME|PASSWORD)/);
      t.notMatch(refused.stderr(), value);
    }
  });
});
