import t from 'tap';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { startQueue } from './queue.ts';

const sourceOf = (target: string): string => decodeURIComponent(target.split(/[/?]/)[2] ?? '');

t.test('two consumers share a queue and never do a job twice', async (t) => {
  const { add, consume, jobs, listener } = await startQueue(t);
  const atWork = new Set<string>();
  const ports = new Map<string, Set<number>>();
  let [together, twice] = [0, 0];
  listener.answer(() => (request, response) => {
    const source = sourceOf(request.url ?? '');
    if (atWork.has(source)) twice += 1;
    atWork.add(source);
    together = Math.max(together, atWork.size);
    ports.set(source, (ports.get(source) ?? new Set()).add(request.socket.remotePort ?? 0));
    setTimeout(() => {
      atWork.delete(source);
      response.end();
    }, 30);
  });
  const sources = Array.from({ length: 12 }, (_, i) => `https://a.example/${100 + i}.jpg`);
  const consumers = await Promise.all([consume(), consume()]);
  await add(sources, [1, 2, 3]);
  await until('all are done', async () =>
    (await jobs()).every((job) => job['nextRunAt'] === null && job['lockedAt'] === null),
  );
  t.equal(listener.asked.length, 12 * 3, 'each variant once');
  t.equal(twice, 0);
  t.ok(together >= 2 && together <= 4, `${together} at once, of the 4 that both may do`);
  t.ok(
    [...ports.values()].every(({ size }) => size === 1),
    'a source over one connection',
  );
  const doers = new Set((await jobs()).map((job) => job['lastModifiedBy']));
  t.equal(doers.size, consumers.length, 'both took part');
});

t.test('a lock is renewed while one variant takes longer than its lifetime', async (t) => {
  const { add, consume, jobs, listener } = await startQueue(t);
  listener.answer(() => (_, response) => void setTimeout(() => response.end(), 2_000));
  await add(['https://a.example/1.jpg']);
  await Promise.all([consume({ lockLifetimeMs: 600 }), consume({ lockLifetimeMs: 600 })]);
  await until('it is done', async () => (await jobs())[0]?.['progress'] === 100);
  t.equal(listener.asked.length, 1);
});

t.test('work whose lock another has taken ends, and leaves that lock alone', async (t) => {
  const { add, consume, jobs, listener, db } = await startQueue(t);
  let closed = false;
  listener.answer(() => (_, response) => {
    response.on('close', () => {
      closed = true;
    });
  });
  await add(['https://a.example/1.jpg']);
  const consumer = await consume({ lockLifetimeMs: 900 });
  await until('it has begun', () => listener.asked.length === 1);
  // As another does for whom this one's lock has run out while its process was paused.
  const other = { lockedAt: new Date(Date.now() + 60_000), lastModifiedBy: 'another' };
  await db.collection('jobs').updateOne({}, { $set: other });
  await until('it has ended', () => closed, 2_000);
  await consumer.stop(2_000);
  t.match(await jobs(), [{ ...other, failCount: null, failReason: null }]);
});

t.test('work whose lock cannot be renewed ends before another may begin it', async (t) => {
  const link = await storeLink(t);
  const { add, consume, listener, jobs } = await startQueue(t, link.other);
  let closedAt = 0;
  listener.answer(() => (_, response) => {
    response.on('close', () => {
      closedAt ||= performance.now();
    });
  });
  await add(['https://a.example/1.jpg']);
  const lockLifetimeMs = 3_000;
  await consume({ store: { db: link.db }, lockLifetimeMs });
  await until('it has begun', () => listener.asked.length === 1);
  const cutAt = performance.now();
  await link.cut();
  await until('it has ended', () => closedAt > 0, lockLifetimeMs);
  t.ok(closedAt - cutAt < lockLifetimeMs, `${closedAt - cutAt} ms after the cut`);
  t.equal(listener.asked.length, 1);

  listener.answer(() => [200]);
  await link.mend();
  await until('it is done', async () => (await jobs())[0]?.['progress'] === 100);
});
