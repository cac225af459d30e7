import type { IncomingHttpHeaders } from 'node:http';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { backgroundHeader, backgroundToken } from '../../contract/secrets.ts';
import { findDeployment } from '../../store/deployment.ts';
import type { ProjectFreshness } from '../../store/projects.ts';
import { advanceDate } from '../clock.ts';
import { until } from '../until.ts';
import { startControl } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { answeredBy, earlierRequestsReceived, held } from './held-reply.ts';
import { createPicture, type Reply, startTestOrigin } from './origin.ts';

/** Starts a front end with a separate clock, and an origin with responses from the test. */
async function start(t: Test, freshness: ProjectFreshness, environment = {}) {
  const forward = advanceDate(t);
  const frontEnd = await startFrontEnd(t, {
    SERVICE_STALE_IF_ERROR_SECONDS: '600',
    SERVICE_DISK_CACHE_BYTES: '1000000000',
    ...environment,
  });
  const { url, origin, project, store } = frontEnd;
  await store.projects.setFreshness(project, freshness);
  const requests: IncomingHttpHeaders[] = [];
  const tiers: (string | null)[] = [];
  const serve = (path: string, reply: Reply) =>
    origin.serve(path, (request, response) => {
      requests.push(request.headers);
      return reply(request, response);
    });
  const publish = async (
    version: number,
    headers: Readonly<Record<string, string>> = {},
    path = '/a.png',
  ) => {
    const body = await createPicture(version);
    serve(path, (request, response) => {
      const isKnown =
        headers['etag'] !== undefined && request.headers['if-none-match'] === headers['etag'];
      if (isKnown) response.writeHead(304, headers).end();
      else response.writeHead(200, headers).end(body);
    });
  };
  const toPath = (query = '', path = '/a.png') =>
    `/img/${origin.url}${path}?project=${project}&fmt=png${query}`;
  const get = async (query = '', path = '/a.png') => {
    const response = await fetch(url + toPath(query, path));
    const body = await response.arrayBuffer();
    const { status, headers } = response;
    const field = (name: string) => headers.get(name);
    if (status !== 200) return { status, version: null, tier: null, field };
    const { data } = await sharp(body).raw().toBuffer({ resolveWithObject: true });
    const tier = field('x-cache');
    tiers.push(tier);
    return { status, version: data[0], tier, field };
  };
  return {
    ...frontEnd,
    /** To the origin. */
    requests,
    /** Cache tiers of all images so far. */
    tiers,
    serve,
    publish,
    get,
    /** Requests an image like the worker and returns the status. */
    async warm() {
      const { backgroundSecret } = await findDeployment(store.db);
      const token = backgroundToken(backgroundSecret, toPath(), Date.now());
      return (await fetch(url + toPath(), { headers: { [backgroundHeader]: token } })).status;
    },
    forward: (seconds: number) => forward(seconds * 1_000),
    /** Waits for a number of requests to the origin, and for the last response. */
    async untilRequested(count: number, query = '') {
      await until(`${count} requests to the origin`, async () => {
        // A hit sends no request while the previous response's state is still being written.
        if (requests.length < count) await get(query);
        return requests.length >= count;
      });
      await until('the answer arrived', async () => {
        const status = (await get(query)).field('cache-status') ?? '';
        return !/ttl=-/.test(status) || /detail=/.test(status);
      });
      t.equal(requests.length, count);
    },
  };
}

const minute = { sourceAge: 60, browserAge: 30 };

t.test('revalidates an unchanged source after its age, and renders no image again', async (t) => {
  const { publish, get, forward, untilRequested, requests } = await start(t, minute);
  const lastModified = 'Sun, 22 Nov 2026 10:00:00 GMT';
  await publish(1, { etag: 'W/"1"', 'last-modified': lastModified });
  t.match(await get(), { version: 1, tier: 'miss' });
  const fresh = await get();
  t.equal(fresh.field('cache-control'), 'public, max-age=30');
  t.match(fresh.field('cache-status'), /^ImageDelivery; hit; ttl=[1-5]?\d$/);
  forward(30);
  t.match(await get(), { version: 1, tier: 'memory' });
  t.equal(requests.length, 1);
  forward(31);
  t.match(await get(), { version: 1, tier: 'memory' }, 'a stale image is served at once');
  await untilRequested(2);
  t.match(requests[1], { 'if-none-match': 'W/"1"', 'if-modified-since': lastModified });
  forward(30);
  t.match(await get(), { version: 1, tier: 'memory' });
  t.equal(requests.length, 2, 'the age begins again');
});

t.test('updates the image after a redirect moves to an older file', async (t) => {
  const { serve, get, forward } = await start(t, minute);
  let current = '/new.png';
  const dates = { '/new.png': 22, '/old.png': 1 };
  const bodies = { '/new.png': await createPicture(2), '/old.png': await createPicture(1) };
  serve('/latest.png', (_, response) => void response.writeHead(302, { location: current }).end());
  for (const path of ['/new.png', '/old.png'] as const) {
    const at = Date.UTC(2026, 10, dates[path]);
    // Respond like servers that compare times, or with entity tags that only differ within a file.
    serve(path, ({ headers }, response) => {
      const since = Date.parse(headers['if-modified-since'] ?? '');
      const isKnown = headers['if-none-match'] === '"1"' || since >= at;
      response.writeHead(isKnown ? 304 : 200, {
        etag: '"1"',
        'last-modified': new Date(at).toUTCString(),
      });
      response.end(isKnown ? undefined : bodies[path]);
    });
  }
  t.match(await get('', '/latest.png'), { version: 2, tier: 'miss' });
  current = '/old.png';
  forward(61);
  await until('the older file', async () => (await get('', '/latest.png')).version === 1);
  forward(61);
  await until('it is fresh again', async () => {
    const { field } = await get('', '/latest.png');
    return !field('cache-status')?.includes('ttl=-');
  });
  t.match(await get('', '/latest.png'), { version: 1, tier: 'memory' });
});

t.test('renders no image again for the same bytes with another validator', async (t) => {
  const { publish, get, forward, untilRequested, tiers } = await start(t, minute);
  for (const [index, etag] of ['"1"', '"2"', '"3"'].entries()) {
    await publish(1, { etag });
    t.match(await get(), { version: 1, tier: index === 0 ? 'miss' : 'memory' });
    await untilRequested(index + 1);
    forward(61);
  }
  t.equal(tiers.filter((tier) => tier === 'miss').length, 1);
});

t.test('renders each requested image again after the bytes change', async (t) => {
  const { publish, get, forward, untilRequested, requests } = await start(t, minute);
  await publish(1);
  await get();
  t.match(await get('&w=20'), { version: 1, tier: 'miss' });
  await publish(2);
  forward(61);
  t.match(await get(), { version: 1, tier: 'memory' });
  await untilRequested(2, '&w=10');
  t.match(await get(), { version: 2, tier: 'miss' });
  t.match(await get('&w=20'), { version: 2, tier: 'miss' });
  t.match(await get('&w=20'), { version: 2, tier: 'memory' });
  t.equal(requests.length, 2, 'all are rendered from the bytes of the answer');
});

t.test('renders once per age if bytes differ in every response', async (t) => {
  const { serve, get, forward, requests } = await start(t, minute);
  serve('/a.png', async (_, response) => void response.end(await createPicture(requests.length)));
  for (const query of ['', '&w=20', '', '&w=20', '']) await get(query);
  t.equal(requests.length, 1);
  forward(61);
  await get();
  await until('a new version', async () => (await get()).version === 2);
  for (const query of ['&w=20', '', '&w=20']) t.match(await get(query), { version: 2 });
  t.equal(requests.length, 2);
});

t.test('keeps the old image for a time if the origin fails', async (t) => {
  const failures: Readonly<Record<string, Reply>> = {
    source_unreachable: (_, response) => void response.destroy(),
    source_forbidden: (_, response) => void response.writeHead(403).end(),
    source_unsupported: (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>'),
  };
  const { publish, serve, get, forward, requests } = await start(t, minute);
  for (const [code, failure] of Object.entries(failures)) {
    const path = `/${code}.png`;
    await publish(1, {}, path);
    await get('', path);
    serve(path, failure);
    requests.length = 0;
    forward(61);
    t.match(await get('', path), { version: 1, tier: 'memory' });
    const detail = `detail=${code}`;
    await until(detail, async () => (await get('', path)).field('cache-status')?.includes(detail));
    const attempts = requests.length;
    const kept = await get('', path);
    t.match(kept, { version: 1, tier: 'memory' });
    t.match(kept.field('cache-control'), 'public, max-age=5');
    t.equal(requests.length, attempts, 'the origin is not asked again at once');
    forward(600);
    const late = await get('', path);
    t.not(late.status, 200, 'SERVICE_STALE_IF_ERROR_SECONDS have passed');
    await publish(2, {}, path);
    forward(11);
    t.match(await get('', path), { status: 200, version: 2 });
  }
});

t.test('stops serving a source that no longer exists', async (t) => {
  const { publish, serve, get, forward } = await start(t, minute);
  await publish(1);
  await get();
  serve('/a.png', (_, response) => void response.writeHead(404).end());
  forward(61);
  t.match(await get(), { version: 1 });
  await until('404', async () => (await get()).status === 404);
  await publish(2);
  forward(61);
  await until('it exists again', async () => (await get()).version === 2);
});

t.test("follows the origin's Cache-Control if the project says so", async (t) => {
  const { publish, get, forward, untilRequested, requests } = await start(t, {
    sourceAge: 'origin',
    browserAge: null,
  });
  await publish(1, { 'cache-control': 'max-age=5, s-maxage="100"', age: '20', etag: '"1"' });
  await get();
  forward(50);
  await get();
  t.equal(requests.length, 1);
  await publish(1, { 'cache-control': 'no-cache', etag: '"1"' });
  forward(31);
  await get();
  await untilRequested(2);
  forward(2);
  await get();
  t.equal(requests.length, 2, 'SERVICE_SOURCE_MIN_AGE_SECONDS');
  const swr = 'max-age=60, stale-while-revalidate=30, stale-if-error=100';
  await publish(2, { 'cache-control': swr });
  forward(9);
  await get();
  await until('the change', async () => (await get()).version === 2);
  await publish(3, { 'cache-control': swr });
  forward(95);
  t.match(await get(), { version: 3, tier: 'miss' }, 'it is too old to be served at once');
});

t.test("treats a layer's changed image as a changed source", async (t) => {
  const { publish, get, forward, store, project, origin } = await start(t, minute);
  const url = `${origin.url}/badge.png`;
  await store.projects.setItem(project, 'layers', 'badge', { image: { url, scale: 100 } });
  await publish(1);
  await publish(100, {}, '/badge.png');
  await until('the layer', async () => (await get('&layer=badge')).version === 100);
  await publish(200, {}, '/badge.png');
  forward(61);
  t.match(await get('&layer=badge'), { version: 100, tier: 'memory' });
  await until('the new one', async () => (await get('&layer=badge')).version === 200);
});

t.test('revalidates a stale image before it counts as warm in prewarming', async (t) => {
  const { publish, get, forward, warm, requests } = await start(t, minute);
  await publish(1);
  t.equal(await warm(), 204);
  t.match(await get(), { version: 1, tier: 'memory' });
  await publish(2);
  forward(61);
  t.equal(await warm(), 204);
  t.match(await get(), { version: 2, tier: 'memory' });
  t.equal(requests.length, 2);
});

t.test("follows a fallback's own source", async (t) => {
  const { publish, serve, get, forward, origin } = await start(t, minute);
  serve('/away.png', (_, response) => void response.writeHead(404).end());
  await publish(1);
  const query = `&fallback=${encodeURIComponent(`${origin.url}/a.png`)}`;
  t.match(await get(query, '/away.png'), { version: 1 });
  await publish(2);
  forward(61);
  await until('the new fallback', async () => (await get(query, '/away.png')).version === 2);
});

t.test('revalidates each version of a source separately', async (t) => {
  const { publish, get, forward, untilRequested, requests } = await start(t, minute);
  await publish(1);
  await get('&v=1');
  await get('&v=2');
  t.equal(requests.length, 2);
  forward(61);
  await get('&v=1');
  await untilRequested(3, '&v=1');
  await get('&v=2');
  await untilRequested(4, '&v=2');
});

t.test('keeps no old image after the clock goes back', async (t) => {
  const { publish, get, forward } = await start(t, minute);
  await publish(1);
  await get();
  forward(-3_600);
  await publish(2);
  await get();
  await until('the new image', async () => (await get()).version === 2);
  t.match(await get(), { tier: 'memory' });
});

t.test('compares images from before the source age existed', async (t) => {
  const never = { sourceAge: null, browserAge: null };
  const { publish, get, store, project } = await start(t, never);
  await publish(1);
  t.equal((await get()).field('cache-control'), 'public, max-age=31536000, immutable');
  t.equal((await get()).field('cache-status'), null);
  await publish(2);
  t.match(await get(), { version: 1, tier: 'memory' });
  await store.projects.setFreshness(project, minute);
  await until('the new image', async () => (await get()).version === 2);
});

t.test("shares revalidations among a machine's processes, even after a restart", async (t) => {
  const environment = { SERVICE_PROCESSES: '2', SERVICE_SOURCE_MIN_AGE_SECONDS: '1' };
  const control = await startControl(t, environment);
  const { service } = control;
  const origin = await startTestOrigin(t);
  const project = await control.project();
  await control.call('PUT', `/projects/${project}/freshness`, {
    json: { sourceAge: 1, browserAge: null },
  });
  const body = await createPicture(1);
  const unchanged = held((_, response) => void response.writeHead(304).end());
  origin.serve('/a.png', (request, response) => {
    if (request.headers['if-none-match'] === '"1"') return unchanged.reply(request, response);
    response.writeHead(200, { etag: '"1"' }).end(body);
  });
  const target = `${service.url}/img/${origin.url}/a.png?project=${project}`;
  const get = async () => {
    const response = await fetch(target, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    return {
      tier: response.headers.get('x-cache'),
      isStale: response.headers.get('cache-status')?.includes('ttl=-') === true,
      pid: answeredBy(response.headers),
    };
  };
  /** Waits until every process has sent a stale image. */
  const allAreStale = async () => {
    const pids = new Set<number>();
    await until('every process has a stale image', async () => {
      const { tier, isStale, pid } = await get();
      if (isStale && tier !== 'miss') pids.add(pid);
      return service.frontEnds().every((frontEnd) => pids.has(frontEnd));
    });
  };
  const askedOnce = async () => {
    await allAreStale();
    await until('the revalidation', () => unchanged.waiting > 0);
    await earlierRequestsReceived(service);
    t.equal(unchanged.waiting, 1);
  };
  await askedOnce();
  const before = service.frontEnds();
  for (const pid of before) process.kill(pid, 'SIGKILL');
  await until('new processes', () => {
    const pids = service.frontEnds();
    return pids.length === 2 && !pids.some((pid) => before.includes(pid));
  });
  await askedOnce();
  unchanged.release();
  await until('it is fresh again', async () => !(await get()).isStale);
});
