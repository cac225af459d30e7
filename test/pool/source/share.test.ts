import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { SourceLease } from '../../../pool/source/sources.ts';
import { until } from '../../until.ts';
import { asker, failureOf, openSources, startOrigin } from './origin.ts';

t.test('a hundred that want one URL make one request and share the bytes', async (t) => {
  let answer = () => {};
  const origin = await startOrigin(t, (_, response) => {
    answer = () => void response.end('picture');
  });
  const sources = openSources(t);
  const acquired = Array.from({ length: 100 }, (_, i) =>
    sources.acquire(origin.url(`/a#${i}`), asker()),
  );
  await until('a request', () => origin.requests.length === 1);
  answer();
  const leases = await Promise.all(acquired);
  t.equal(origin.requests.length, 1);
  t.equal(new Set(leases.map(({ bytes }) => bytes)).size, 1);
  t.ok(leases.every(({ fetchMs }) => fetchMs !== null && fetchMs > 0));
  t.match(sources.stats(), { fetches: 1, fetching: 0, heldBytes: 7 }, 'held once');
  for (let i = 0; i < 200; i++) leases[0]?.release();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sources.stats().heldBytes, 7, 'one lease counts once, however often it is released');
  for (const lease of leases) lease.release();
  t.equal(sources.stats().heldBytes, 0);
});

t.test('the one who leaves does not end the fetch, the last one does', async (t) => {
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
    sources.acquire(origin.url(), asker({ signal })).catch((error: unknown) => error),
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

  const again = sources.acquire(origin.url(), asker());
  await until('another request', () => answers.length === 2);
  answers[1]?.end('ture');
  t.equal((await again).bytes.byteLength, 7, 'nothing of the abort is remembered');
});

t.test('whoever comes with an aborted signal has nothing fetched', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('picture'));
  const sources = openSources(t);
  const signal = AbortSignal.abort(new Error('before'));
  await t.rejects(sources.acquire(origin.url(), asker({ signal })), { message: 'before' });
  t.match(sources.stats(), { fetches: 0, fetching: 0 });
});

t.test('each allowlist holds for its own asker, whoever had the source fetched', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    // Whoever asks, asks in the same turn as the first one, long before this comes to it.
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const url = origin.url('/', 'a.example');
  const strict = asker({ allowed: (host) => host === 'a.example' });
  for (const strictLeads of [true, false]) {
    const sources = openSources(t);
    const before = origin.requests.length;
    const [first, second] = strictLeads ? [strict, asker()] : [asker(), strict];
    const joined = [sources.acquire(url, first), sources.acquire(url, second)] as const;
    const [refused, served] = strictLeads ? joined : ([joined[1], joined[0]] as const);
    const failure = await failureOf(refused);
    t.match(failure, { code: 'source_not_allowed', message: /b\.example/ });
    t.equal((await served).bytes.byteLength, 7);
    t.equal(origin.requests.length - before, 2, 'no host is asked twice');
    const late = await failureOf(sources.acquire(url, strict));
    t.equal(late.code, 'source_not_allowed', 'also when it comes from the cache');
  }
});

t.test('one that joins just after the redirect was refused has it followed', async (t) => {
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
      late ??= sources.acquire(url, asker());
    });
    return false;
  };
  t.equal((await failureOf(sources.acquire(url, asker({ allowed })))).code, 'source_not_allowed');
  t.equal((await late)?.bytes.byteLength, 7);
});

t.test('a refused redirect is not remembered', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const sources = openSources(t);
  const url = origin.url('/', 'a.example');
  const strict = asker({ allowed: (host) => host === 'a.example' });
  t.equal((await failureOf(sources.acquire(url, strict))).code, 'source_not_allowed');
  t.same(origin.requests.length, 1, 'the other host was not asked');
  t.equal((await sources.acquire(url, asker())).bytes.byteLength, 7);
});

t.test('closing ends what is under way', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.write('pic'));
  const sources = openSources(t, { fetchConcurrency: 1 });
  const running = failureOf(sources.acquire(origin.url('/1'), asker()));
  const waiting = failureOf(sources.acquire(origin.url('/2'), asker({ background: true })));
  await until('a request', () => origin.requests.length === 1);
  await sources.close();
  t.equal((await running).code, 'overloaded');
  t.equal((await waiting).code, 'overloaded');
  t.equal((await failureOf(sources.acquire(origin.url('/3'), asker()))).code, 'overloaded');
  await origin.quiet();
  t.match(sources.stats(), { fetching: 0, heldBytes: 0, cacheBytes: 0 });
});
