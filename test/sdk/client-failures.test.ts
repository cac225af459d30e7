import { inspect } from 'node:util';
import t from 'tap';
import { createClientWith } from '../../sdk/src/client/client.ts';
import {
  ApiError,
  type ClientOptions,
  ConnectionError,
  TimeoutError,
} from '../../sdk/src/client/index.ts';
import { systemClock } from '../../sdk/src/client/send.ts';
import { freePort, startService } from '../service/service.ts';
import { until } from '../until.ts';
import { type Fault, refusal, startFaultyProxy } from './faulty-proxy.ts';
import { stoppedClock } from './stopped-clock.ts';

const apiKey = 'sk_key-of-the-client';

t.test('ends a wait with its signal', async (t) => {
  const controller = new AbortController();
  const waiting = systemClock.sleep(60_000, controller.signal);
  const reason = new Error('the page was closed');
  controller.abort(reason);
  await t.rejects(waiting, reason);
  await t.rejects(systemClock.sleep(60_000, controller.signal), reason);
  await systemClock.sleep(1, new AbortController().signal);
});

const page = (status: number): Fault => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html>You sent Bearer ${apiKey}`,
});

t.test('completes calls through a failing proxy', async (t) => {
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: apiKey } });
  const proxy = await startFaultyProxy(t, service.url);

  /** Starts a client with faults in its first requests. */
  const start = (faults: readonly Fault[], options: Partial<ClientOptions> = {}) => {
    proxy.faults.splice(0, Number.POSITIVE_INFINITY, ...faults);
    proxy.requests.length = 0;
    const clock = stoppedClock();
    const client = createClientWith({ baseUrl: proxy.url, apiKey, ...options }, clock);
    return { client, clock };
  };
  const input = { name: 'Shop', origin: 'http://shop.example.com/' };
  const { id: projectId } = await start([]).client.createProject(input);
  const host = 'cdn.example.com';

  await t.test('repeats a temporary refusal after the stated time', async (t) => {
    const { client, clock } = start([
      refusal(429, 'rate_limited', { 'retry-after': '7' }),
      refusal(503, 'store_unavailable', { 'retry-after': '2' }),
      page(503),
    ]);
    t.match(await client.getProject({ projectId }), { id: projectId });
    t.equal(proxy.requests.length, 4);
    t.same(clock.waits, [7_062.5, 2_125, 750], 'with jitter');
  });

  await t.test('waits until the date in Retry-After', async (t) => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    const { client, clock } = start([refusal(429, 'rate_limited', { 'retry-after': date })]);
    await client.getProject({ projectId });
    const [wait = 0] = clock.waits;
    t.ok(wait > 10_000 && wait < 21_000, `${wait} ms`);
  });

  await t.test('limits the number and the time of attempts', async (t) => {
    const busy = refusal(429, 'rate_limited');
    const many = Array<Fault>(9).fill(busy);
    const three = start(many);
    await t.rejects(three.client.getProject({ projectId }), { code: 'rate_limited' });
    t.equal(proxy.requests.length, 4);
    const none = start(many, { retries: { count: 0 } });
    await t.rejects(none.client.getProject({ projectId }), { code: 'rate_limited' });
    t.equal(proxy.requests.length, 1);
    const short = start(many, { retries: { count: 99, withinMs: 1_000 } });
    await t.rejects(short.client.getProject({ projectId }), { code: 'rate_limited' });
    t.equal(proxy.requests.length, 3);

    const later = start([refusal(429, 'prewarm_queue_full', { 'retry-after': '60' })]);
    await t.rejects(later.client.getProject({ projectId }), {
      name: 'ApiError',
      operation: 'getProject',
      status: 429,
      code: 'prewarm_queue_full',
      message: 'Not now.',
      hint: 'Wait.',
      requestId: 'a-b-1',
      retryAfter: 60,
    });
    t.same(later.clock.waits, [], 'does not wait beyond the limit');
  });

  await t.test('increases waits, and varies them between clients', async (t) => {
    const failing = Array<Fault>(9).fill(page(503));
    const waits = async (random: number) => {
      const { clock } = start(failing);
      const options = { baseUrl: proxy.url, apiKey, retries: { count: 8, withinMs: 99_000 } };
      const client = createClientWith(options, { ...clock, random: () => random });
      await t.rejects(client.getProject({ projectId }), { code: 'unexpected_response' });
      return clock.waits;
    };
    t.same(await waits(0), [125, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
    t.same(await waits(1), [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  await t.test('repeats a call with a lost connection', async (t) => {
    const { client, clock } = start(['half', 'none', page(502)]);
    await client.addProjectDomain({ projectId, host });
    t.equal(proxy.requests.length, 4);
    t.equal(clock.waits.length, 3);
    const { client: failing } = start(['half', 'half', 'half', 'half']);
    const error = await failing.getProject({ projectId }).catch((error) => error);
    t.ok(error instanceof ConnectionError);
    t.match(error, { code: 'connection_lost', operation: 'getProject' });
    t.match(error.message, 'other side closed');

    const nobody = { baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey };
    const refused = createClientWith(nobody, stoppedClock()).listProjects();
    await t.rejects(refused, { name: 'ConnectionError', message: /ECONNREFUSED/ });
  });

  await t.test('repeats a call that gets no response', async (t) => {
    const { client, clock } = start(['silence'], { timeoutMs: 60_000 });
    const impatient = { timeoutMs: 500 };
    t.match(await client.getProject({ projectId }, impatient), { id: projectId });
    t.not(clock.waits.length, 0);
    const { client: failing, clock: later } = start(Array<Fault>(9).fill('silence'));
    const error = await failing
      .getProject({ projectId }, { timeoutMs: 200 })
      .catch((error) => error);
    t.ok(error instanceof TimeoutError);
    t.match(error, { code: 'timeout', operation: 'getProject', timeoutMs: 200 });
    // The proxy itself can miss requests on a busy machine.
    t.equal(later.waits.length, 3);
  });

  await t.test('repeats createProject only after a refusal before it took effect', async (t) => {
    const count = async () => (await start([]).client.listProjects()).length;
    const before = await count();
    const refused = start([refusal(429, 'rate_limited', { 'retry-after': '1' })]);
    await refused.client.createProject(input);
    t.equal(await count(), before + 1);

    for (const fault of ['half', 'none', page(502), refusal(503, 'store_unavailable')] as const) {
      const { client } = start([fault]);
      await t.rejects(client.createProject(input), inspect(fault));
      t.equal(proxy.requests.length, 1);
    }
    t.equal(await count(), before + 3, 'the first two took effect');
    const { client } = start(['silence']);
    await t.rejects(client.createProject(input, { timeoutMs: 500 }), { name: 'TimeoutError' });
    t.equal(proxy.requests.length, 1);
  });

  await t.test('repeats a change unless it contains a callback', async (t) => {
    const sources = ['http://shop.example.com/a.jpg'];
    const { client } = start(['none']);
    const called = client.purgeProjectImages({
      projectId,
      sources,
      callbackUrl: 'http://shop.example.com/done',
    });
    await t.rejects(called, { name: 'ConnectionError' });
    t.equal(proxy.requests.length, 1);
    const again = start(['none']);
    t.match(await again.client.prewarmProjectImages({ projectId, sources }), { sourceCount: 1 });
    t.equal(proxy.requests.length, 2);
  });

  await t.test('accepts a success that lacks a Location only for a purge', async (t) => {
    const accepted = (result: string): Fault => ({
      status: 202,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ [result]: { accepted: true, sourceCount: 1 } }),
    });
    const sources = ['http://shop.example.com/a.jpg'];
    const { client } = start([accepted('purge'), accepted('prewarm')]);
    const purged = await client.purgeProjectImages({ projectId, sources });
    t.same(purged, { accepted: true, sourceCount: 1, purgeId: null });
    const prewarm = client.prewarmProjectImages({ projectId, sources });
    await t.rejects(prewarm, { code: 'unexpected_response', status: 202 });
  });

  await t.test('ends a call with its signal', async (t) => {
    const reason = new Error('the page was closed');
    const before = AbortSignal.abort(reason);
    const { client } = start([]);
    await t.rejects(client.getProject({ projectId }, { signal: before }), reason);
    t.equal(proxy.requests.length, 0);

    const during = new AbortController();
    const { client: silent } = start(['silence'], { timeoutMs: 10_000, retries: { count: 0 } });
    const call = silent.getProject({ projectId }, { signal: during.signal });
    call.catch(() => {});
    await until('the proxy has the request', () => proxy.requests.length > 0);
    during.abort(reason);
    await t.rejects(call, reason);

    const waiting = new AbortController();
    const { client: refused, clock } = start([page(503), page(503)]);
    const sleep = clock.sleep;
    clock.sleep = async (ms, signal) => {
      waiting.abort(reason);
      await sleep(ms, signal);
    };
    await t.rejects(refused.getProject({ projectId }, { signal: waiting.signal }), reason);
    t.equal(proxy.requests.length, 1);
  });

  await t.test('reports a foreign response as an unexpected_response', async (t) => {
    const { client } = start(Array<Fault>(4).fill(page(502)));
    const error = await client.getProject({ projectId }).catch((error) => error);
    t.ok(error instanceof ApiError);
    t.match(error, { status: 502, code: 'unexpected_response', hint: null, requestId: null });
    t.match(error.message, /not the service's \(502, text\/html\)/);
    for (const fault of [
      page(200),
      { status: 200, headers: { 'content-type': 'text/csv' }, body: 'a,b' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"project":' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"other":1}' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: 'null' },
      { status: 404, headers: { 'content-type': 'application/json' }, body: '{"code":1}' },
    ]) {
      const { client } = start([fault]);
      const unexpected = { code: 'unexpected_response', message: /baseUrl/ };
      await t.rejects(client.getProject({ projectId }), unexpected, inspect(fault));
    }
    const unknown = start([refusal(418, 'of_a_later_version')]);
    const later = { status: 418, code: 'of_a_later_version', retryAfter: null };
    await t.rejects(unknown.client.getProject({ projectId }), later);
  });

  await t.test('rejects a response that is too long', async (t) => {
    const { client } = start([], { maxResponseBytes: 100 });
    const expected = { code: 'unexpected_response', message: /more than 100 bytes/ };
    await t.rejects(client.getProject({ projectId }), expected);
    const long = start([refusal(400, 'a'.repeat(100_000))]);
    const error = await long.client.getProject({ projectId }).catch((error) => error);
    t.equal(error.code.length, 8_192);
  });

  await t.test('follows no redirects', async (t) => {
    const other = await startFaultyProxy(t, service.url);
    for (const location of [`${other.url}/api/sdk/v1/projects`, '/elsewhere']) {
      const { client } = start([{ status: 307, headers: { location } }]);
      const expected = { status: 307, code: 'unexpected_response', message: /baseUrl/ };
      await t.rejects(client.listProjects(), expected);
      t.equal(proxy.requests.length, 1);
    }
    t.same(other.requests, []);
  });

  await t.test('resolves getHealth for an unhealthy service', async (t) => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"ok":false,"status":"unavailable"}';
    const { client, clock } = start([{ status: 503, headers, body }]);
    t.same(await client.getHealth(), { ok: false, status: 'unavailable' });
    t.same(clock.waits, []);
    t.notOk(
      proxy.requests.some(({ headers }) => headers.authorization),
      'without the key',
    );
  });

  await t.test('sends requests with a custom fetch', async (t) => {
    const sent: unknown[] = [];
    const { client } = start([], {
      fetch: (url, init) => {
        sent.push(url);
        return fetch(url, init);
      },
    });
    await client.getProject({ projectId });
    t.same(sent, [`${proxy.url}/api/sdk/v1/projects/${projectId}`]);
    const withoutSignal = start([], { fetch: () => new Promise(() => {}), retries: { count: 0 } });
    const call = withoutSignal.client.getProject({ projectId }, { timeoutMs: 20 });
    await t.rejects(call, { name: 'TimeoutError' }, 'that ignores its signal');
  });

  await t.test('rejects fields that would change the path', async (t) => {
    const { client } = start([]);
    for (const name of ['', '.', '..']) {
      const call = client.deleteProjectPreset({ projectId, presetName: name });
      await t.rejects(call, { name: 'TypeError', message: /presetName/ }, `"${name}"`);
    }
    const slash = client.getProjectPreset({ projectId, presetName: '../settings?a#b' });
    await t.rejects(slash, { code: 'preset_not_found' });
    // @ts-expect-error JavaScript does not check the types.
    await t.rejects(client.getProject(projectId), { name: 'TypeError', message: /projectId/ });
  });
});
