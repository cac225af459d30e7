import type { ServerResponse } from 'node:http';
import t from 'tap';
import { until } from '../../until.ts';
import { client, expectFailure, openSources, startOrigin } from './origin.ts';

/** Returns a clock in ms that the test advances. */
function clock() {
  let time = 1_000;
  const pass = (ms: number) => {
    time += ms;
  };
  return { now: () => time, pass };
}

t.test('caches a fetched source for 30 s', async (t) => {
  const origin = await startOrigin(t);
  const { now, pass } = clock();
  const sources = openSources(t, {}, { now });
  const get = (path: string) => sources.acquire(origin.url(path), client());
  (await get('/a#1')).release();
  pass(29_000);
  const cached = await get('/a#2');
  t.equal(cached.fetchMs, null);
  t.equal(Buffer.from(cached.bytes).toString(), 'picture');
  pass(2_000);
  t.not((await get('/a')).fetchMs, null, 'a hit does not extend the time');
  t.equal(origin.requests.length, 2);
});

t.test('caches failures for 5 s', async (t) => {
  const replies: Record<string, readonly [code: string, reply: (to: ServerResponse) => void]> = {
    '/404': ['source_not_found', (to) => to.writeHead(404).end()],
    '/500': ['source_unreachable', (to) => to.writeHead(500).end()],
    '/empty': ['source_corrupt', (to) => to.end()],
    '/large': ['source_too_large', (to) => to.end(Buffer.alloc(2_000))],
    '/late': ['source_timeout', (to) => to.flushHeaders()],
    '/reset': ['source_unreachable', (to) => to.destroy()],
  };
  const origin = await startOrigin(t, ({ url = '' }, response) => replies[url]?.[1](response));
  const { now, pass } = clock();
  for (const [path, [code]] of Object.entries(replies)) {
    const timeout = code === 'source_timeout' ? { sourceTimeoutMs: 300 } : {};
    const sources = openSources(t, { sourceMaxBytes: 1_000, ...timeout }, { now });
    const get = () => expectFailure(sources.acquire(origin.url(path), client()));
    const first = await get();
    t.equal(first.code, code, path);
    const requests = origin.requests.length;
    pass(4_000);
    t.equal(await get(), first);
    t.equal(origin.requests.length, requests, 'not requested again');
    pass(2_000);
    await get();
    t.ok(origin.requests.length > requests, 'requested again');
  }
});

t.test('evicts the least recently used source at the byte limit', async (t) => {
  const origin = await startOrigin(t, ({ url }, response) => {
    response.end(Buffer.alloc(url === '/large' ? 40_000 : 10_000));
  });
  const sources = openSources(t, { sourceCacheBytes: 33_000 });
  const paths = ['/1', '/2', '/3', '/1', '/4', '/1', '/2', '/large', '/large'];
  const cached: string[] = [];
  for (const path of paths) {
    const lease = await sources.acquire(origin.url(path), client());
    lease.release();
    if (lease.fetchMs === null) cached.push(path);
  }
  t.same(cached, ['/1', '/1']);
  const { cacheBytes } = sources.stats();
  t.ok(cacheBytes > 30_000 && cacheBytes <= 33_000, String(cacheBytes));
});

t.test('reuses memory after its last release', async (t) => {
  const letters = Array.from('abcdef', (letter) => Buffer.alloc(10_000, letter));
  const origin = await startOrigin(t, ({ url }, response) => {
    response.end(letters[Number(url?.slice(1))]);
  });
  // The cache fits one source at a time.
  const sources = openSources(t, { sourceCacheBytes: 11_000 });
  const get = (index: number) => sources.acquire(origin.url(`/${index}`), client());
  const is = (bytes: Uint8Array, index: number) => letters[index]?.equals(bytes) === true;

  const first = await get(0);
  const running = first.hold();
  first.release();
  const second = await get(1);
  second.release();
  t.ok(is(first.bytes, 0), 'held by a reader');
  t.not(second.bytes.byteOffset, first.bytes.byteOffset);
  running();
  const third = await get(2);
  t.equal(third.bytes.byteOffset, first.bytes.byteOffset, 'released');
  const cached = await get(2);
  t.equal(cached.fetchMs, null);
  third.release();
  third.release();
  const [fourth, fifth] = [await get(3), await get(4)];
  t.ok(is(cached.bytes, 2) && is(fourth.bytes, 3) && is(fifth.bytes, 4), 'held by leases');
  for (const lease of [cached, fourth, fifth]) lease.release();
  t.equal(sources.stats().sharedBytes, 12_288, 'the cached source');
  await sources.close();
  await until('nothing is held', () => {
    const { heldBytes, sharedBytes } = sources.stats();
    return heldBytes + sharedBytes === 0;
  });
});

t.test('loses no memory after failures and aborts', async (t) => {
  const body = Buffer.alloc(300_000, 'x');
  const origin = await startOrigin(t, ({ url }, response) => {
    const kind = Number(url?.split('/')[1]) % 6;
    if (kind === 0) response.end(body);
    else if (kind === 1) response.writeHead(302, { location: `/0${url}` }).end();
    else if (kind === 2) response.writeHead(200, { 'content-length': 400_000 }).write(body);
    else if (kind === 3) response.write(body, () => response.destroy());
    else if (kind === 4) response.end(Buffer.concat([body, body, body, body]));
    else response.write(body.subarray(0, 200_000), () => response.end(body));
  });
  const limits = { sourceTimeoutMs: 3_000, sourceMaxBytes: 1_000_000, fetchConcurrency: 64 };
  const sources = openSources(t, { ...limits, sourceCacheBytes: 2_000_000 });
  const results = await Promise.allSettled(
    Array.from({ length: 240 }, async (_, index) => {
      const leaving = new AbortController();
      const url = origin.url(`/${index % 48}/${index % 80}`);
      const lease = sources.acquire(url, client({ signal: leaving.signal }));
      if (index % 3 === 0) setTimeout(() => leaving.abort(new Error('left')), index % 25);
      const { bytes, release, hold } = await lease;
      const done = hold();
      release();
      t.ok(bytes[0] === 120 && bytes[bytes.byteLength - 1] === 120);
      setTimeout(done, index % 40);
    }),
  );
  const kinds = new Set(results.map(({ status }) => status));
  t.same(kinds, new Set(['fulfilled', 'rejected']));
  await until('no fetch runs and no bytes are held', () => {
    const { fetching, heldBytes } = sources.stats();
    return fetching === 0 && heldBytes === 0;
  });
  const { sharedBytes, cacheBytes } = sources.stats();
  t.ok(sharedBytes > 0 && sharedBytes <= 2_000_000 + 16 * 4_096, `${sharedBytes}, ${cacheBytes}`);
  await sources.close();
  t.equal(sources.stats().sharedBytes, 0);
});
