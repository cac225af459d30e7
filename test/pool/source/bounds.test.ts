import t, { type Test } from 'tap';
import { Urgency } from '../../../pool/single-flight.ts';
import type {
  AcquireOptions,
  SourceOptions,
  SourceSettings,
} from '../../../pool/source/sources.ts';
import { until } from '../../until.ts';
import { client, expectFailure, openSources, startHeldOrigin, startOrigin } from './origin.ts';

/** Opens sources, and an origin with responses that wait for the test. */
async function open(t: Test, settings: Partial<SourceSettings>, options: SourceOptions = {}) {
  const origin = await startHeldOrigin(t);
  const sources = openSources(t, settings, options);
  const get = (path: string, more: Partial<AcquireOptions> = {}) =>
    sources.acquire(origin.url(path), client(more));
  const refused = async (path: string, more: Partial<AcquireOptions> = {}) =>
    t.equal((await expectFailure(get(path, more))).code, 'overloaded', path);
  return { ...origin, sources, get, refused };
}

const background = { urgency: new Urgency('background') };

t.test('rejects live fetches beyond the limit immediately', async (t) => {
  const { sources, get, refused, held, respond } = await open(t, { fetchConcurrency: 2 });
  const running = [get('/1'), get('/2')];
  await until('2 requests', () => held.size === 2);
  await refused('/3');
  t.match(sources.stats(), { fetching: 2, concurrency: 2, rejected: 1, fetches: 2 });
  running.push(get('/1'));
  await respond('/1', '/2');
  await Promise.all(running);
  t.equal(sources.stats().fetching, 0);
  t.equal((await get('/1')).fetchMs, null, 'cache hits need no slot');
  const third = get('/3');
  await respond('/3');
  t.ok(await third, 'the refusal is not cached');
});

t.test('limits background fetches to half of the slots', async (t) => {
  const { sources, get, held, respond, paths } = await open(t, { fetchConcurrency: 4 });
  const all = ['/b1', '/b2', '/b3', '/b4'].map((path) => get(path, background));
  await until('2 requests', () => held.size === 2);
  all.push(get('/l1'), get('/l2'));
  await until('4 requests', () => held.size === 4);
  t.same([...held.keys()].sort(), ['/b1', '/b2', '/l1', '/l2']);
  await respond('/b1', '/b3', '/l1', '/l2', '/b2', '/b4');
  await Promise.all(all);
  t.same(paths().slice(4), ['/b3', '/b4'], 'in the order of the requests');
  t.match(sources.stats(), { fetching: 0, rejected: 0, fetches: 6 });
});

t.test('removes a waiting background fetch on an abort', async (t) => {
  const { get, respond, paths } = await open(t, { fetchConcurrency: 1 });
  const live = get('/l');
  const leaving = new AbortController();
  const left = get('/b1', { ...background, signal: leaving.signal });
  const stays = get('/b2', background);
  leaving.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
  await respond('/l', '/b2');
  await Promise.all([live, stays]);
  t.same(paths(), ['/l', '/b2']);
});

t.test('does not delay a live request for a background slot', async (t) => {
  const { sources, get, refused, held, respond } = await open(t, { fetchConcurrency: 2 });
  const all = [get('/b1', background), get('/b2', background)];
  await until('/b1 is requested', () => held.has('/b1'));
  all.push(get('/b2'));
  await until('/b2 is requested', () => held.has('/b2'));
  const waits = get('/b3', background);
  await refused('/b3');
  await respond('/b2', '/b1', '/b3');
  t.equal((await waits).bytes.byteLength, 7, 'the background fetch kept waiting');
  await Promise.all(all);
  t.match(sources.stats(), { fetches: 3, rejected: 1 });
});

t.test('leaves slots to other projects, even on the same host', async (t) => {
  const { get, refused, respond } = await open(t, { fetchConcurrency: 8 });
  const own = [0, 1, 2, 3, 4, 5].map((i) => get(`/a${i}`, { project: 'a' }));
  await refused('/a6', { project: 'a' });
  const other = get('/b', { project: 'b' });
  await respond('/b');
  t.ok(await other);
  for (let i = 0; i < 6; i++) await respond(`/a${i}`);
  await Promise.all(own);
});

t.test('alternates between the background fetches of projects', async (t) => {
  const { get, respond, paths } = await open(t, { fetchConcurrency: 2 });
  const all = ['/a1', '/a2', '/a3', '/b1'].map((path) =>
    get(path, { project: path.charAt(1), ...background }),
  );
  await respond('/a1', '/a2', '/b1', '/a3');
  await Promise.all(all);
  t.same(paths(), ['/a1', '/a2', '/b1', '/a3']);
});

t.test(
  "promotes a fetch for a live request while it waits for another project's share",
  async (t) => {
    const { sources, get, respond } = await open(t, { fetchConcurrency: 4 });
    const own = ['/1', '/2', '/3'].map((path) => get(path, { project: 'a' }));
    own.push(get('/4', { project: 'a', ...background }));
    const live = get('/4', { project: 'b' });
    await respond('/4');
    t.ok(await live);
    await respond('/1', '/2', '/3');
    await Promise.all(own);
    t.equal(sources.stats().fetching, 0);
  },
);

t.test('accepts a request although another project has used up its share', async (t) => {
  const { sources, get, url, respond } = await open(t, {
    sourceHeldBytes: 160_000,
    sourceCacheBytes: 1,
  });
  const first = sources.acquire(url('/?80000', 'other.example'), client({ project: 'a' }));
  await respond('/?80000');
  const lease = await first;
  const leader = expectFailure(get('/?50000', { project: 'a' }));
  const follower = get('/?50000', { project: 'b' });
  await respond('/?50000');
  t.equal((await leader).code, 'overloaded');
  t.match(sources.stats(), { heldRejected: 1, heldMaxBytes: 160_000 });
  await respond('/?50000');
  t.equal((await follower).bytes.byteLength, 50_000);
  lease.release();
});

t.test('limits bytes in flight and in leases together', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-length', 40_000).end(Buffer.alloc(40_000));
  });
  const limits = { sourceMaxBytes: 50_000, sourceHeldBytes: 110_000 };
  const sources = openSources(t, { ...limits, sourceCacheBytes: 1 });
  const get = (path: string) => sources.acquire(origin.url(path), client());
  const [first, second] = [await get('/1'), await get('/2')];
  t.equal(sources.stats().heldBytes, 80_000);
  t.equal((await expectFailure(get('/3'))).code, 'overloaded');
  t.equal(sources.stats().heldBytes, 80_000);
  first.release();
  t.ok(await get('/3'), 'the refusal is not cached');
  second.release();
  t.equal(sources.stats().heldBytes, 40_000);
});

t.test('reserves little for a mere Content-Length', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-length', 30_000_000).write('a');
  });
  const sources = openSources(t, { sourceMaxBytes: 33_554_432 });
  const leaving = new AbortController();
  const left = sources.acquire(origin.url(), client({ signal: leaving.signal })).catch(() => {});
  await until('some bytes', () => sources.stats().heldBytes > 0);
  t.ok(sources.stats().heldBytes <= 2_097_152);
  leaving.abort();
  await left;
  await until('none are held', () => sources.stats().heldBytes === 0);
});

t.test('limits kept connections across many hosts', async (t) => {
  const origin = await startOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 2 });
  for (let i = 0; i < 30; i++) {
    (await sources.acquire(origin.url('/', `n${i}.example`), client())).release();
  }
  const { connections } = sources.stats();
  t.ok(connections >= 8 && connections <= 10, `${connections} of 30`);
});

t.test('limits the bytes of cached failures', async (t) => {
  const sources = openSources(t, {}, { resolve: () => Promise.reject(new Error('no such name')) });
  for (let i = 0; i < 400; i++) {
    const url = new URL(`http://none.example/${i}${'x'.repeat(8_000)}`);
    await expectFailure(sources.acquire(url, client()));
  }
  const { failureBytes } = sources.stats();
  t.ok(failureBytes > 3e6 && failureBytes <= 4 * 1024 * 1024, `${failureBytes}`);
});
