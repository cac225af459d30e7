import t from 'tap';
import { until } from '../../until.ts';
import { client, failureOf, openSources, startOrigin } from './origin.ts';

/** A clock that the test advances. */
function clock() {
  let time = 1_000;
  return {
    now: () => time,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

t.test('a fetched source is cached for 30 s', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('picture'));
  const { now, pass } = clock();
  const sources = openSources(t, {}, { now });
  (await sources.acquire(origin.url('/a#1'), client())).release();
  pass(20_000);
  const cached = await sources.acquire(origin.url('/a#2'), client());
  t.equal(cached.fetchMs, null);
  t.equal(Buffer.from(cached.bytes).toString(), 'picture');
  pass(9_000);
  await sources.acquire(origin.url('/a'), client());
  t.equal(origin.requests.length, 1);
  pass(2_000);
  const fresh = await sources.acquire(origin.url('/a'), client());
  t.not(fresh.fetchMs, null);
  t.equal(origin.requests.length, 2);
});

t.test('failures are cached for 5 s', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/404') response.writeHead(404).end();
    else if (request.url === '/500') response.writeHead(500).end();
    else if (request.url === '/empty') response.end();
    else if (request.url === '/large') response.end(Buffer.alloc(2_000));
    else if (request.url === '/late') response.flushHeaders();
    else request.socket.destroy();
  });
  const { now, pass } = clock();
  const sources = openSources(t, { sourceMaxBytes: 1_000, sourceTimeoutMs: 300 }, { now });
  for (const [path, code] of Object.entries({
    '/404': 'source_not_found',
    '/500': 'source_unreachable',
    '/empty': 'source_corrupt',
    '/large': 'source_too_large',
    '/late': 'source_timeout',
    '/reset': 'source_unreachable',
  })) {
    const first = await failureOf(sources.acquire(origin.url(path), client()));
    t.equal(first.code, code, path);
    const requests = origin.requests.length;
    pass(4_000);
    t.equal(await failureOf(sources.acquire(origin.url(path), client())), first);
    t.equal(origin.requests.length, requests, 'not requested again');
    pass(2_000);
    await failureOf(sources.acquire(origin.url(path), client()));
    t.ok(origin.requests.length > requests, 'requested again');
  }
});

t.test('a cached failure of a host is only used for requests that may use the host', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/end') response.writeHead(404).end();
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const sources = openSources(t);
  const url = origin.url('/', 'a.example');
  t.equal((await failureOf(sources.acquire(url, client()))).code, 'source_not_found');
  const strict = client({ allowed: (host) => host === 'a.example' });
  t.equal((await failureOf(sources.acquire(url, strict))).code, 'source_not_allowed');
});

t.test('the cache evicts the least recently used at its byte limit', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end(Buffer.alloc(10_000)));
  const sources = openSources(t, {}, { cacheBytes: 33_000 });
  const get = async (path: string) => {
    const lease = await sources.acquire(origin.url(path), client());
    lease.release();
    return lease.fetchMs === null ? 'cached' : 'fetched';
  };
  for (const path of ['/1', '/2', '/3']) t.equal(await get(path), 'fetched');
  t.equal(await get('/1'), 'cached');
  t.equal(await get('/4'), 'fetched');
  const { cacheBytes } = sources.stats();
  t.ok(cacheBytes > 30_000 && cacheBytes <= 33_000, String(cacheBytes));
  t.equal(await get('/1'), 'cached');
  t.equal(await get('/2'), 'fetched');
});

t.test('a source that is too large for the cache is served', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end(Buffer.alloc(10_000)));
  const sources = openSources(t, {}, { cacheBytes: 5_000 });
  const lease = await sources.acquire(origin.url(), client());
  t.equal(lease.bytes.byteLength, 10_000);
  t.equal(sources.stats().cacheBytes, 0);
});

t.test('memory is reused after its last release', async (t) => {
  const letters = Array.from('abcdef', (letter) => Buffer.alloc(10_000, letter));
  const origin = await startOrigin(t, ({ url }, response) => {
    response.end(letters[Number(url?.slice(1))]);
  });
  // One source is in the cache at a time.
  const sources = openSources(t, {}, { cacheBytes: 11_000 });
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
  t.match(sources.stats(), { heldBytes: 0, sharedBytes: 0 });
});

t.test('no memory is lost after failures and aborts', async (t) => {
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
  const limits = { sourceTimeoutMs: 300, sourceMaxBytes: 1_000_000, fetchConcurrency: 64 };
  const sources = openSources(t, limits, { cacheBytes: 2_000_000 });
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
  await until('all is quiet', () => {
    const { fetching, heldBytes } = sources.stats();
    return fetching === 0 && heldBytes === 0;
  });
  const { sharedBytes, cacheBytes } = sources.stats();
  t.ok(sharedBytes > 0 && sharedBytes <= 2_000_000 + 16 * 4_096, `${sharedBytes}, ${cacheBytes}`);
  await sources.close();
  t.equal(sources.stats().sharedBytes, 0);
});
