import t from 'tap';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { held } from './held-reply.ts';
import { picture } from './origin.ts';
import { json } from './service.ts';

t.test(
  'rejects misses immediately while the transform queue is full, and still serves hits',
  async (t) => {
    const { url, origin, image } = await startFrontEnd(t, {
      SERVICE_POOL_THREADS: '1',
      SERVICE_POOL_QUEUE: '2',
    });
    const body = await picture(1600, 1200);
    const source = held(body);
    origin.serve('/a.jpg', body);
    origin.serve('/b.jpg', source.reply);
    t.equal((await fetch(url + image('/a.jpg', 'w=50'))).status, 200);

    // All wait for one source, and at the same moment for the transform queue.
    const flood = Array.from({ length: 40 }, (_, i) =>
      fetch(url + image('/b.jpg', `w=${1200 + i}&fmt=avif`)),
    );
    await until('all wait for the source', async () => {
      const { checks } = await json(await fetch(`${url}/api/health`));
      return checks.transformQueue.misses === 40;
    });
    source.release();
    await Promise.race(flood);
    const hit = await fetch(url + image('/a.jpg', 'w=50'));
    const responses = await Promise.all(flood);
    const refused = responses.filter((response) => response.status === 503);
    const served = responses.filter((response) => response.status === 200);
    t.equal(served.length, 3, 'one runs and two wait');
    t.equal(refused.length, 37);
    for (const response of refused) {
      t.match(response.headers.get('retry-after'), /^[1-9]\d*$/);
      t.equal(response.headers.get('cache-control'), 'no-store');
      t.match(await response.json(), { code: 'overloaded' });
    }
    t.equal(hit.status, 200);
    t.equal(hit.headers.get('x-cache'), 'memory');
    const health = await fetch(`${url}/api/health`);
    t.equal(health.status, 200, 'a full queue alone is not an outage');
    t.match((await json(health)).checks.transformQueue, { rejected: refused.length });
  },
);

t.test('limits the number of fetches', async (t) => {
  const { url, origin, project } = await startFrontEnd(t, { SERVICE_FETCH_CONCURRENCY: '4' });
  const source = held(await picture(100, 100));
  origin.serve('/a.jpg', source.reply);
  const statuses: number[] = [];
  const all = Array.from({ length: 30 }, async (_, i) => {
    const query = `url=${origin.url}/a.jpg%3F${i}&project=${project}&w=10`;
    statuses.push((await fetch(`${url}/img/?${query}`)).status);
  });
  await until('all others are refused', () => statuses.length === 27);
  await until('the others are fetched', () => source.waiting >= 3);
  t.equal(source.waiting, 3, 'three quarters of four for one project');
  source.release();
  await Promise.all(all);
  t.equal(statuses.filter((status) => status === 200).length, 3);
  t.equal(statuses.filter((status) => status === 503).length, 27);
  const { checks } = await json(await fetch(`${url}/api/health`));
  t.match(checks.sources, { concurrency: 4, rejected: 27, fetching: 0 });
});
