import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { client, failureOf, openSources, startOrigin } from './origin.ts';

/** An origin whose responses wait until the test finishes them, by path. */
async function holdingOrigin(t: Test) {
  const open = new Map<string, ServerResponse>();
  const origin = await startOrigin(t, (request, response) => {
    open.set(request.url ?? '', response);
  });
  const finish = (path: string) => {
    open.get(path)?.end('picture');
    open.delete(path);
  };
  return { ...origin, open, finish };
}

t.test('live fetches beyond the limit are refused at once', async (t) => {
  const origin = await holdingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 2 });
  const running = ['/1', '/2'].map((path) => sources.acquire(origin.url(path), client()));
  await until('2 requests', () => origin.open.size === 2);
  t.equal((await failureOf(sources.acquire(origin.url('/3'), client()))).code, 'overloaded');
  t.match(sources.stats(), { fetching: 2, concurrency: 2, rejected: 1, fetches: 2 });
  const joined = sources.acquire(origin.url('/1'), client());
  origin.finish('/1');
  origin.finish('/2');
  await Promise.all([...running, joined]);
  t.equal(sources.stats().fetching, 0);
  t.equal((await sources.acquire(origin.url('/1'), client())).fetchMs, null, 'hits need no slot');
  const third = sources.acquire(origin.url('/3'), client());
  await until('/3 is requested', () => origin.open.has('/3'));
  origin.finish('/3');
  t.ok(await third, 'the refusal is not cached');
});

t.test('background fetches wait for half of the slots', async (t) => {
  const origin = await holdingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 4 });
  const background = ['/b1', '/b2', '/b3', '/b4'].map((path) =>
    sources.acquire(origin.url(path), client({ background: true })),
  );
  await until('2 requests', () => origin.open.size === 2);
  const live = ['/l1', '/l2'].map((path) => sources.acquire(origin.url(path), client()));
  await until('4 requests', () => origin.open.size === 4);
  t.same([...origin.open.keys()].sort(), ['/b1', '/b2', '/l1', '/l2']);
  origin.finish('/b1');
  await until('/b3 is requested', () => origin.open.has('/b3'));
  t.notOk(origin.open.has('/b4'), 'first come, first served');
  for (const path of ['/l1', '/l2', '/b2', '/b3']) origin.finish(path);
  await until('/b4 is requested', () => origin.open.has('/b4'));
  origin.finish('/b4');
  await Promise.all([...background, ...live]);
  t.match(sources.stats(), { fetching: 0, rejected: 0, fetches: 6 });
});

t.test('an abort removes a waiting background fetch', async (t) => {
  const origin = await holdingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 1 });
  const live = sources.acquire(origin.url('/l'), client());
  const leaving = new AbortController();
  const left = sources.acquire(
    origin.url('/b1'),
    client({ background: true, signal: leaving.signal }),
  );
  const stays = sources.acquire(origin.url('/b2'), client({ background: true }));
  leaving.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
  await until('/l is requested', () => origin.open.has('/l'));
  origin.finish('/l');
  await until('/b2 is requested', () => origin.open.has('/b2'));
  origin.finish('/b2');
  await Promise.all([live, stays]);
  t.same(
    origin.requests.map(({ url }) => url),
    ['/l', '/b2'],
  );
});

t.test('a live request does not wait for a background slot', async (t) => {
  const origin = await holdingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 2 });
  const background = ['/b1', '/b2'].map((path) =>
    sources.acquire(origin.url(path), client({ background: true })),
  );
  await until('/b1 is requested', () => origin.open.has('/b1'));
  const live = sources.acquire(origin.url('/b2'), client());
  await until('/b2 is requested', () => origin.open.has('/b2'));
  const full = sources.acquire(origin.url('/b3'), client({ background: true }));
  t.equal((await failureOf(sources.acquire(origin.url('/b3'), client()))).code, 'overloaded');
  origin.finish('/b2');
  origin.finish('/b1');
  await until('/b3 is requested', () => origin.open.has('/b3'));
  origin.finish('/b3');
  t.equal((await full).bytes.byteLength, 7, 'the background fetch kept waiting');
  await Promise.all([...background, live]);
  t.match(sources.stats(), { fetches: 3, rejected: 1 });
});

t.test('bytes in flight and of leases have one limit', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-length', 40_000).end(Buffer.alloc(40_000));
  });
  const sources = openSources(
    t,
    { sourceMaxBytes: 50_000, sourceHeldBytes: 110_000 },
    { cacheBytes: 1 },
  );
  const first = await sources.acquire(origin.url('/1'), client());
  const second = await sources.acquire(origin.url('/2'), client());
  t.equal(sources.stats().heldBytes, 80_000);
  t.equal((await failureOf(sources.acquire(origin.url('/3'), client()))).code, 'overloaded');
  t.equal(sources.stats().heldBytes, 80_000);
  first.release();
  t.ok(await sources.acquire(origin.url('/3'), client()), 'not remembered');
  second.release();
  t.equal(sources.stats().heldBytes, 40_000);
});

t.test('a Content-Length alone reserves little', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-length', 30_000_000).write('a');
  });
  const sources = openSources(t, { sourceMaxBytes: 33_554_432 });
  const leaving = new AbortController();
  const acquired = sources
    .acquire(origin.url(), client({ signal: leaving.signal }))
    .catch(() => 'left');
  await until('some bytes', () => sources.stats().heldBytes > 0);
  t.ok(sources.stats().heldBytes <= 1_048_576);
  leaving.abort();
  t.equal(await acquired, 'left');
  await until('none are held', () => sources.stats().heldBytes === 0);
});
