import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { asker, failureOf, openSources, startOrigin } from './origin.ts';

/** An origin whose answers wait until the test gives them. */
async function waitingOrigin(t: Test) {
  const waiting = new Map<string, () => void>();
  const origin = await startOrigin(t, (request, response) => {
    const path = request.url ?? '';
    waiting.set(path, () => response.end(Buffer.alloc(Number(path.split('?')[1] ?? 7))));
  });
  const give = async (path: string) => {
    await until(`${path} is asked for`, () => waiting.has(path));
    waiting.get(path)?.();
  };
  return { ...origin, waiting, give };
}

t.test('a project leaves slots to others, also for a host that it uses', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 8 });
  const own = Array.from({ length: 6 }, (_, i) =>
    sources.acquire(origin.url(`/a${i}`), asker({ project: 'a' })),
  );
  const refused = sources.acquire(origin.url('/a6'), asker({ project: 'a' }));
  t.equal((await failureOf(refused)).code, 'overloaded');
  const other = sources.acquire(origin.url('/b'), asker({ project: 'b' }));
  await origin.give('/b');
  t.ok(await other);
  for (let i = 0; i < 6; i++) await origin.give(`/a${i}`);
  await Promise.all(own);
});

t.test('background fetches of projects take turns', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 2 });
  const ask = (project: string, path: string) =>
    sources.acquire(origin.url(path), asker({ project, background: true }));
  const all = ['/a1', '/a2', '/a3', '/b1'].map((path) => ask(path.charAt(1), path));
  for (const path of ['/a1', '/a2', '/b1', '/a3']) await origin.give(path);
  await Promise.all(all);
  t.same(
    origin.requests.map(({ url }) => url),
    ['/a1', '/a2', '/b1', '/a3'],
  );
});

t.test('a live request goes on with a fetch that waits for the share of another', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { fetchConcurrency: 4 });
  const own = ['/1', '/2', '/3'].map((path) =>
    sources.acquire(origin.url(path), asker({ project: 'a' })),
  );
  const waits = sources.acquire(origin.url('/4'), asker({ project: 'a', background: true }));
  const live = sources.acquire(origin.url('/4'), asker({ project: 'b' }));
  await origin.give('/4');
  t.ok(await live);
  for (const path of ['/1', '/2', '/3']) await origin.give(path);
  await Promise.all([...own, waits]);
  t.equal(sources.stats().fetching, 0);
});

t.test('that the share of bytes of another is used up is no failure of a fetch', async (t) => {
  const origin = await waitingOrigin(t);
  const sources = openSources(t, { sourceHeldBytes: 160_000 }, { cacheBytes: 1 });
  const first = sources.acquire(origin.url('/?80000', 'other.example'), asker({ project: 'a' }));
  await origin.give('/?80000');
  const lease = await first;
  const leads = sources.acquire(origin.url('/?50000'), asker({ project: 'a' }));
  const follows = sources.acquire(origin.url('/?50000'), asker({ project: 'b' }));
  const refused = failureOf(leads);
  await origin.give('/?50000');
  t.equal((await refused).code, 'overloaded');
  t.match(sources.stats(), { heldRejected: 1, heldMaxBytes: 160_000 });
  await until('it is asked for again', () => origin.requests.length === 3);
  await origin.give('/?50000');
  t.equal((await follows).bytes.byteLength, 50_000);
  lease.release();
});

t.test('names that a client chooses do not keep connections without bound', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('picture'));
  const sources = openSources(t, { fetchConcurrency: 2 });
  for (let i = 0; i < 30; i++) {
    (await sources.acquire(origin.url('/', `n${i}.example`), asker())).release();
  }
  t.ok(sources.stats().connections >= 8, 'some are kept for the next fetch');
  t.ok(sources.stats().connections <= 10, `${sources.stats().connections} of 30`);
});

t.test('failures are bounded in bytes', async (t) => {
  const sources = openSources(t, {}, { resolve: () => Promise.reject(new Error('no such name')) });
  for (let i = 0; i < 400; i++) {
    await failureOf(
      sources.acquire(new URL(`http://none.example/${i}${'x'.repeat(8_000)}`), asker()),
    );
  }
  const { failureBytes } = sources.stats();
  t.ok(failureBytes > 3e6 && failureBytes <= 4 * 1024 * 1024, `${failureBytes}`);
});
