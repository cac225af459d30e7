import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { client, failureOf, openSources, startOrigin } from './origin.ts';

/** An origin whose responses wait for the test. */
async function waitingOrigin(t: Test) {
  const waiting = new Map<string, () => void>();
  const origin = await startOrigin(t, (request, response) => {
    const path = request.url ?? '';
    waiting.set(path, () => response.end(Buffer.alloc(Number(path.split('?')[1] ?? 7))));
  });
  const give = async (path: string) => {
    await until(`${path} is requested`, () => waiting.has(path));
    waiting.get(path)?.();
  };
  return { ...origin, waiting, give };
}

t.test('a project leaves slots to others, also for the same host', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 8 });
  const own = Array.from({ length: 6 }, (_, i) =>
    sources.acquire(origin.url(`/a${i}`), client({ project: 'a' })),
  );
  const refused = sources.acquire(origin.url('/a6'), client({ project: 'a' }));
  t.equal((await failureOf(refused)).code, 'overloaded');
  const other = sources.acquire(origin.url('/b'), client({ project: 'b' }));
  await origin.give('/b');
  t.ok(await other);
  for (let i = 0; i < 6; i++) await origin.give(`/a${i}`);
  await Promise.all(own);
});

t.test('background fetches of projects take turns', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 2 });
  const ask = (project: string, path: string) =>
    sources.acquire(origin.url(path), client({ project, background: true }));
  const all = ['/a1', '/a2', '/a3', '/b1'].map((path) => ask(path.charAt(1), path));
  for (const path of ['/a1', '/a2', '/b1', '/a3']) await origin.give(path);
  await Promise.all(all);
  t.same(
    origin.requests.map(({ url }) => url),
    ['/a1', '/a2', '/b1', '/a3'],
  );
});

t.test('a live request promotes a fetch that waits for the share of another project', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 4 });
  const own = ['/1', '/2', '/3'].map((path) =>
    sources.acquire(origin.url(path), client({ project: 'a' })),
  );
  const waits = sources.acquire(origin.url('/4'), client({ project: 'a', background: true }));
  const live = sources.acquire(origin.url('/4'), client({ project: 'b' }));
  await origin.give('/4');
  t.ok(await live);
  for (const path of ['/1', '/2', '/3']) await origin.give(path);
  await Promise.all([...own, waits]);
  t.equal(sources.stats().fetching, 0);
});

t.test('an exhausted share of another project does not fail a request', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { sourceHeldBytes: 160_000 }, { cacheBytes: 1 });
  const first = sources.acquire(origin.url('/?80000', 'other.example'), client({ project: 'a' }));
  await origin.give('/?80000');
  const lease = await first;
  const leads = sources.acquire(origin.url('/?50000'), client({ project: 'a' }));
  const follows = sources.acquire(origin.url('/?50000'), client({ project: 'b' }));
  const refused = failureOf(leads);
  await origin.give('/?50000');
  t.equal((await refused).code, 'overloaded');
  t.match(sources.stats(), { heldRejected: 1, heldMaxBytes: 160_000 });
  await until('it is asked for again', () => origin.requests.length === 3);
  await origin.give('/?50000');
  t.equal((await follows).bytes.byteLength, 50_000);
  lease.release();
});

t.test('kept connections of many hosts are limited', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('picture'));
  const sources = openSources(t, { fetchConcurrency: 2 });
  for (let i = 0; i < 30; i++) {
    (await sources.acquire(origin.url('/', `n${i}.example`), client())).release();
  }
  t.ok(sources.stats().connections >= 8, 'some are kept for the next fetch');
  t.ok(sources.stats().connections <= 10, `${sources.stats().connections} of 30`);
});

t.test('cached failures have a byte limit', async (t) => {
  const sources = openSources(t, {}, { resolve: () => Promise.reject(new Error('no such name')) });
  for (let i = 0; i < 400; i++) {
    await failureOf(
      sources.acquire(new URL(`http://none.example/${i}${'x'.repeat(8_000)}`), client()),
    );
  }
  const { failureBytes } = sources.stats();
  t.ok(failureBytes > 3e6 && failureBytes <= 4 * 1024 * 1024, `${failureBytes}`);
});
