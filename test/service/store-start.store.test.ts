import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Projects } from '../../store/projects.ts';
import { rootPath } from '../root.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { answeredBy } from './held-reply.ts';
import { picture, startTestOrigin } from './origin.ts';
import { launch, plainNode, type Service } from './service.ts';

const outageMessages = (service: Service, part: string) =>
  service.log.filter(
    (line) => line['part'] === part && /^store (still )?unavailable/.test(line.msg),
  );

/** Keys of two machines that alternate. */
const rootKeys = ['sk_key-of-one-machine', 'sk_key-of-another-machine'] as const;

t.test('starts, runs and restarts while its store is unavailable', async (t) => {
  const link = await storeLink(t);
  const { host } = new URL(link.url.replace(/^mongodb/, 'http'));
  await link.cut();
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const service = await launch(t, {
    environment: {
      SERVICE_MONGODB_URL: link.url,
      SERVICE_POOL_THREADS: '1',
      SERVICE_ROOT_API_KEY: rootKeys[0],
    },
  });
  const cause = `${host} refuses connections (ECONNREFUSED)`;
  let running = service;
  const ends = (lines: Service['log']) =>
    lines.filter(({ msg }) => /^store available after [\d.]+ s$/.test(msg)).length;
  const get = async (path: string, headers = {}) => {
    const response = await fetch(running.url + path, { headers });
    const text = await response.text();
    const body = response.headers.get('content-type') === 'application/json' && JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  };
  const health = () => get('/api/health');
  const unavailable = async (path: string, headers = {}) => {
    const response = await get(path, headers);
    t.match(response, { status: 503, body: { code: 'store_unavailable' } }, path);
    t.match(response.headers.get('retry-after'), /^\d+$/);
  };
  const authorization = { authorization: 'Bearer sk_of-somebody' };
  /**
   * Runs the health check of containers and service managers, and returns its exit code and signal.
   */
  const healthCheck = (...options: string[]) => {
    const [program, ...args] = plainNode;
    const check = join(rootPath, 'dist/server/health-check.js');
    return once(spawn(program, [...args, check, ...options], { env: service.environment }), 'exit');
  };
  const toPath = (id: string) => `/img/${origin.url}/a.jpg?project=${id}`;
  const unknown = toPath('prj_0000000000000000');

  await t.test('reports the outage, serves health, and recovers', async (t) => {
    await service.waitForLog(({ msg }) => msg === 'front end listening');
    t.match(await health(), { status: 503, body: { ok: false, store: 'unavailable' } });
    await unavailable('/api/sdk/v1/projects', authorization);
    await unavailable(unknown);
    const notReady = { status: 503, body: { ready: false, status: 'starting' } };
    t.match(await get('/api/ready'), notReady, 'it can serve nothing yet');
    t.match(await get('/api/health/live'), { status: 200, body: { ok: true, status: 'ok' } });
    await until('the log entry', () => outageMessages(service, 'primary').length > 0);
    t.equal(
      outageMessages(service, 'primary')[0]?.msg.split('; ')[0],
      `store unavailable: ${cause}`,
    );
    await until('a sentence', () => service.stderr().endsWith('\n'));
    t.match(service.stderr(), `The store is unavailable: ${cause}. Until it responds, `);
    await t.rejects(
      service.admin('projects', 'list'),
      { code: 1, stderr: `The store is unavailable: ${cause}.\n` },
      'an admin command tries once',
    );
    service.process.kill('SIGHUP');
    const waiting = healthCheck('--wait');
    await link.mend();
    await service.waitForLog(({ msg }) => msg === 'service ready');
    t.same(await waiting, [0, null], 'a service manager waits for it');
    t.equal(outageMessages(service, 'primary').length, 1, 'reported once');
    t.equal(ends(service.log.filter((line) => line['part'] === 'primary')), 1, 'and its end once');
    await until('health', async () => (await health()).status === 200);
  });

  const [id, other] = [await service.project(), await service.project()];
  const image = async (path = toPath(id)) => (await get(path)).status;
  const signed = service.url + toPath(other);
  await service.admin('projects', 'sign', other);
  const signedPath = new URL(await service.admin('projects', 'sign', other, '--url', signed));
  const both = [toPath(id), signedPath.pathname + signedPath.search];
  const delivers = async (what: string) => {
    for (const path of both) t.equal(await image(path), 200, what);
    t.equal(await image(toPath(other)), 403, 'signatures are checked');
  };
  /** Waits for the next listening front end. */
  const another = (before: readonly number[]) =>
    until('a new front end', () => running.frontEnds().find((pid) => !before.includes(pid)));

  await t.test('delivers images of a new front end for projects cached elsewhere', async (t) => {
    for (const path of both) await until('an image', async () => (await image(path)) === 200);
    await link.cut();
    const before = service.frontEnds();
    process.kill(before.at(-1) ?? 0, 'SIGKILL');
    const pid = await another(before);
    await delivers('replaced');
    await unavailable(unknown);
    await unavailable('/api/sdk/v1/projects', authorization);
    t.match(await health(), { status: 503, body: { checks: { projects: { known: 2 } } } });
    t.match(await get('/api/ready'), { status: 200, body: { ready: true, status: 'ready' } });
    t.same(await healthCheck(), [0, null], 'the health check of a container succeeds');
    const own = () => service.log.filter((line) => line['pid'] === pid);
    const outages = () => own().filter(({ msg }) => msg.startsWith('store unavailable: '));
    await until('the log entry', () => outages().length > 0);
    t.match(outages()[0]?.msg, cause);
    await link.mend();
    await until('health', async () => (await health()).status === 200);
    t.equal(await image(unknown), 404);
    t.equal(outages().length, 1, 'reported once');
    await until('its end in the log', () => ends(own()) > 0);
    t.equal(ends(own()), 1, 'and its end once');
    t.notMatch(service.stdout(), /topology is closed/i);
  });

  await t.test('delivers images and does not wait for a silent store', async () => {
    link.hold();
    await delivers('held');
    const before = service.frontEnds();
    service.process.kill('SIGHUP');
    await another(before);
    await until(
      'the old one has stopped listening',
      async () => !before.includes(answeredBy((await health()).headers)),
    );
    await delivers('rolled');
    await unavailable(unknown);
    await unavailable('/api/sdk/v1/projects', authorization);
    link.release();
    await until('health', async () => (await health()).status === 200);
  });

  await t.test('delivers images of cached projects after a restart', async (t) => {
    const { dataDir, port, environment } = service;
    const file = join(dataDir, 'known-projects');
    await service.end('SIGKILL');
    await until('all have ended', () => service.frontEnds().length === 0);
    t.equal((await stat(file)).mode & 0o777, 0o600);
    const { signingSecret } = (await new Projects(link.other).find(other)) ?? {};
    t.ok(signingSecret);
    t.notOk((await readFile(file)).includes(String(signingSecret)));
    await link.cut();
    await new Projects(link.other).removeHost(id, '127.0.0.1');
    const anotherKey = { ...environment, SERVICE_ROOT_API_KEY: rootKeys[1] };
    running = await launch(t, { dataDir, port, environment: anotherKey });
    await running.waitForLog(({ msg }) => msg === 'front end listening');
    await delivers('restarted');
    t.equal((await get('/api/ready')).status, 200, 'a load balancer sends it requests');
    const { body } = await health();
    t.match(body, { store: 'unavailable', checks: { projects: { known: 2 } } });
    t.type(body.checks.projects.ageSeconds, 'number');
    await link.mend();
    await running.waitForLog(({ msg }) => msg === 'service ready');
    await until('health', async () => (await health()).status === 200);
    t.equal(await image(), 403, 'a change in the meantime takes effect');

    for (const key of rootKeys) {
      const { status } = await get('/api/sdk/v1/projects', { authorization: `Bearer ${key}` });
      t.equal(status, 200, 'a new key revokes no other key');
    }
    const warned = running.log.filter(({ msg }) => msg.startsWith('store contains other keys'));
    t.match(warned, [{ keys: [/^key_\w{16}$/] }], 'the log names the key');
  });
});

t.test('reports refused credentials, and stops waiting on SIGTERM', async (t) => {
  const link = await storeLink(t);
  const url = link.url.replace('//', '//somebody:s3cret@');
  const service = await launch(t, {
    environment: { SERVICE_MONGODB_URL: url },
    dataDir: t.testdir(),
  });
  await until('the log entry', () => outageMessages(service, 'primary').length > 0);
  t.match(outageMessages(service, 'primary')[0]?.msg, 'authentication failed: ');
  t.equal(await service.end('SIGTERM'), 0);
  t.notMatch(service.stdout() + service.stderr(), /s3cret|somebody/);
});

t.test('stops at the start with a clear error on an invalid store URL', async (t) => {
  const url = 'mongodb://somebody:s3/cret@127.0.0.1/';
  const service = await launch(t, {
    environment: { SERVICE_MONGODB_URL: url },
    dataDir: t.testdir(),
  });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /^SERVICE_MONGODB_URL cannot be used: .*\.\n$/);
  t.notMatch(service.stdout() + service.stderr(), /s3|cret@/);
});
