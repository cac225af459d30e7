import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { SourceLease } from '../../../pool/source/sources.ts';
import { until } from '../../until.ts';
import { client, failureOf, openSources, startOrigin } from './origin.ts';

t.test('concurrent requests for a URL share one fetch and its bytes', async (t) => {
  let answer = () => {};
  const origin = await startOrigin(t, (_, response) => {
    answer = () => void response.end('picture');
  });
  const sources = openSources(t);
  const acquired = Array.from({ length: 100 }, (_, i) =>
    sources.acquire(origin.url(`/a#${i}`), client()),
  );
  await until('a request', () => origin.requests.length === 1);
  answer();
  const leases = await Promise.all(acquired);
  t.equal(origin.requests.length, 1);
  t.equal(new Set(leases.map(({ bytes }) => bytes)).size, 1);
  t.ok(leases.every(({ fetchMs }) => fetchMs !== null && fetchMs > 0));
  t.match(sources.stats(), { fetches: 1, fetching: 0, heldBytes: 7 }, 'counted once');
  for (let i = 0; i < 200; i++) leases[0]?.release();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sources.stats().heldBytes, 7, 'a repeated release has no effect');
  for (const lease of leases) lease.release();
  t.equal(sources.stats().heldBytes, 0);
});

t.test('only the last abort ends the fetch', async (t) => {
  const answers: ServerResponse[] = [];
  let cut = 0;
  const origin = await startOrigin(t, (_, response) => {
    answers.push(response);
    response.write('pic');
    response.on('close', () => {
      if (!response.writableFinished) cut += 1;
    });
  });
  const sources = openSources(t);
  const leaving = [new AbortController(), new AbortController(), new AbortController()];
  const acquired = leaving.map(({ signal }) =>
    sources.acquire(origin.url(), client({ signal })).catch((error: unknown) => error),
  );
  await until('a request', () => answers.length === 1);
  leaving[0]?.abort('first');
  t.equal(await acquired[0], 'first');
  leaving[1]?.abort('second');
  t.equal(await acquired[1], 'second');
  t.equal(sources.stats().fetching, 1);
  t.equal(cut, 0);
  leaving[2]?.abort('third');
  t.equal(await acquired[2], 'third');
  await until('the fetch has ended', () => cut === 1 && sources.stats().fetching === 0);
  t.equal(sources.stats().heldBytes, 0);

  const again = sources.acquire(origin.url(), client());
  await until('another request', () => answers.length === 2);
  answers[1]?.end('ture');
  t.equal((await again).bytes.byteLength, 7, 'the abort is not cached');
});

t.test('an aborted signal starts no fetch', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('picture'));
  const sources = openSources(t);
  const signal = AbortSignal.abort(new Error('before'));
  await t.rejects(sources.acquire(origin.url(), client({ signal })), { message: 'before' });
  t.match(sources.stats(), { fetches: 0, fetching: 0 });
});

t.test('a shared fetch respects the allowlist of each request', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    // The second request joins before this response.
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const url = origin.url('/', 'a.example');
  const strict = client({ allowed: (host) => host === 'a.example' });
  for (const strictLeads of [true, false]) {
    const sources = openSources(t);
    const before = origin.requests.length;
    const [first, second] = strictLeads ? [strict, client()] : [client(), strict];
    const joined = [sources.acquire(url, first), sources.acquire(url, second)] as const;
    const [refused, served] = strictLeads ? joined : ([joined[1], joined[0]] as const);
    const failure = await failureOf(refused);
    t.match(failure, { code: 'source_not_allowed', message: /b\.example/ });
    t.equal((await served).bytes.byteLength, 7);
    t.equal(origin.requests.length - before, 2, 'one request for each host');
    const late = await failureOf(sources.acquire(url, strict));
    t.equal(late.code, 'source_not_allowed', 'also from the cache');
  }
});

t.test('a request that joins after a refused redirect has it followed', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const sources = openSources(t);
  const url = origin.url('/', 'a.example');
  let late: Promise<SourceLease> | undefined;
  const allowed = (host: string) => {
    if (host === 'a.example') return true;
    queueMicrotask(() => {
      late ??= sources.acquire(url, client());
    });
    return false;
  };
  t.equal((await failureOf(sources.acquire(url, client({ allowed })))).code, 'source_not_allowed');
  t.equal((await late)?.bytes.byteLength, 7);
});

t.test('a refused redirect is not cached', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const sources = openSources(t);
  const url = origin.url('/', 'a.example');
  const strict = client({ allowed: (host) => host === 'a.example' });
  t.equal((await failureOf(sources.acquire(url, strict))).code, 'source_not_allowed');
  t.same(origin.requests.length, 1, 'the other host got no request');
  t.equal((await sources.acquire(url, client())).bytes.byteLength, 7);
});

t.test('close aborts fetches', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.write('pic'));
  const sources = openSources(t, { fetchConcurrency: 1 });
  const running = failureOf(sources.acquire(origin.url('/1'), client()));
  const waiting = failureOf(sources.acquire(origin.url('/2'), client({ background: true })));
  await until('a request', () => origin.requests.length === 1);
  await sources.close();
  t.equal((await running).code, 'overloaded');
  t.equal((await waiting).code, 'overloaded');
  t.equal((await failureOf(sources.acquire(origin.url('/3'), client()))).code, 'overloaded');
  await origin.quiet();
  t.match(sources.stats(), { fetching: 0, heldBytes: 0, cacheBytes: 0 });
});
