import t from 'tap';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { startQueue, workerStore } from './queue.ts';

const toSource = (target: string): string => decodeURIComponent(target.split(/[/?]/)[2] ?? '');

t.test('runs each job once with two consumers of a queue', async (t) => {
  const { add, consume, ended, listener } = await startQueue(t);
  const running = new Set<string>();
  const connections = new Set<string>();
  let waiting: (() => void)[] = [];
  let [mostRunning, repeated] = [0, 0];
  listener.answer(() => (request, response) => {
    const source = toSource(request.url ?? '');
    if (running.has(source)) repeated += 1;
    running.add(source);
    mostRunning = Math.max(mostRunning, running.size);
    connections.add(`${source} ${request.socket.remotePort}`);
    waiting.push(() => {
      running.delete(source);
      response.end();
    });
    // Respond only once both run their maximum of jobs, so that each runs some.
    if (mostRunning < 4) return;
    for (const respond of waiting) respond();
    waiting = [];
  });
  const sources = Array.from({ length: 12 }, (_, i) => `https://a.example/${100 + i}.jpg`);
  await Promise.all([consume(), consume()]);
  await add(sources, [1, 2, 3]);
  const jobs = await ended();
  t.equal(listener.received.length, 12 * 3, 'each variant once');
  t.equal(repeated, 0);
  t.equal(mostRunning, 4, 'the maximum of both');
  t.equal(connections.size, sources.length, 'a source over one connection');
  const workers = new Set(jobs.map((job) => job['lastModifiedBy']));
  t.equal(workers.size, 2, 'both ran jobs');
});

t.test('renews a lock during a variant that takes longer than its lifetime', async (t) => {
  const { add, consume, jobs, listener } = await startQueue(t);
  let answer = () => {};
  listener.answer(() => (_, response) => {
    answer = () => void response.end();
  });
  await add(['https://a.example/1.jpg']);
  const lockLifetimeMs = 3_000;
  await Promise.all([consume({ lockLifetimeMs }), consume({ lockLifetimeMs })]);
  const lockedAt = async () => Number((await jobs())[0]?.['lockedAt']);
  await until('it has started', () => listener.received.length === 1);
  const first = await lockedAt();
  await until('its first lock would have run out', async () => {
    // The other consumer polls for expired locks twice a second.
    return (await lockedAt()) > first + lockLifetimeMs + 600;
  });
  answer();
  await until('it is done', async () => (await jobs())[0]?.['progress'] === 100);
  t.equal(listener.received.length, 1);
});

t.test('stops a job when another worker takes its lock', async (t) => {
  const { add, consume, jobs, listener, db } = await startQueue(t);
  let closed = false;
  listener.answer(() => (_, response) => {
    response.on('close', () => {
      closed = true;
    });
  });
  await add(['https://a.example/1.jpg']);
  const consumer = await consume({ lockLifetimeMs: 3_000 });
  await until('it has started', () => listener.received.length === 1);
  // Act like another worker after this worker was suspended for longer than its lock.
  const other = { lockedAt: new Date(Date.now() + 60_000), lastModifiedBy: 'another' };
  await db.collection('jobs').updateOne({}, { $set: other });
  await until('it has ended', () => closed);
  await consumer.stop(2_000);
  t.match(await jobs(), [{ ...other, failCount: null, failReason: null }]);
});

t.test('stops a job before its lock expires if it cannot renew the lock', async (t) => {
  const link = await storeLink(t);
  const { add, consume, listener, jobs } = await startQueue(t, link.other);
  let closedAt = 0;
  listener.answer(() => (_, response) => {
    response.on('close', () => {
      closedAt ||= Date.now();
    });
  });
  await add(['https://a.example/1.jpg']);
  const lockLifetimeMs = 6_000;
  await consume({ store: workerStore(link.db), lockLifetimeMs });
  await until('it has started', () => listener.received.length === 1);
  await link.cut();
  const lockedUntil = Number((await jobs())[0]?.['lockedAt']) + lockLifetimeMs;
  await until('it has ended', () => closedAt > 0);
  t.ok(closedAt < lockedUntil, `${lockedUntil - closedAt} ms before another may begin it`);
  t.equal(listener.received.length, 1);

  listener.answer(() => [200]);
  await link.mend();
  await until('it is done', async () => (await jobs())[0]?.['progress'] === 100);
});
