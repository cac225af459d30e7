import t from 'tap';
import { Urgency } from '../../../pool/single-flight.ts';
import { stopClock } from '../../clock.ts';
import { until } from '../../until.ts';
import { finish, openPool, patient, scriptedThread, submit } from './pools.ts';

t.test('rejects transforms beyond threads and queue immediately', async (t) => {
  const pool = openPool(t, { poolThreads: 2, poolQueue: 3 }, scriptedThread);
  const tasks = Array.from({ length: 5 }, () => submit(pool));
  t.equal(pool.isFull('p'), true);
  t.match(pool.stats(), { active: 2, queued: 3, concurrency: 2, maxQueue: 3, rejected: 0 });
  await t.rejects(submit(pool).done, { code: 'overloaded' });
  t.equal(pool.stats().rejected, 1);

  await finish(...tasks);
  await until('the pool is idle', () => pool.stats().active === 0);
  t.equal(pool.isFull('p'), false);
  t.match(pool.stats(), { active: 0, queued: 0, rejected: 1, completed: 5, stalledMs: 0 });
});

t.test('accepts only as many transforms as threads if there is no queue', async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolQueue: 0 }, scriptedThread);
  const running = submit(pool);
  await t.rejects(submit(pool).done, { code: 'overloaded' });
  await finish(running);
  const reason = new Error('before');
  const aborted = submit(pool, { signal: AbortSignal.abort(reason) });
  await t.rejects(aborted.done, reason);
  t.equal(aborted.started(), false);
});

t.test('frees the queue slot immediately on an abort', async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolQueue: 2 }, scriptedThread);
  const running = submit(pool);
  const controller = new AbortController();
  const leaving = submit(pool, { signal: controller.signal });
  const staying = submit(pool);
  t.equal(pool.isFull('p'), true);

  const reason = new Error('gone');
  controller.abort(reason);
  await t.rejects(leaving.done, reason);
  t.match(pool.stats(), { active: 1, queued: 1 });
  t.equal(pool.isFull('p'), false, 'its place is free');

  await finish(running, staying);
  t.equal(leaving.started(), false, 'it never ran');
});

t.test(
  'rejects immediately on an abort during a transform, and keeps the thread busy',
  async (t) => {
    const pool = openPool(t, { poolThreads: 1, poolQueue: 2 }, scriptedThread);
    const controller = new AbortController();
    const leaving = submit(pool, { signal: controller.signal });
    await until('it runs', leaving.started);
    controller.abort();
    await t.rejects(leaving.done, { name: 'AbortError' });
    t.equal(pool.stats().active, 1);

    const waiting = submit(pool);
    t.equal(pool.stats().queued, 1);
    leaving.release();
    await finish(waiting);
    t.equal(pool.stats().threadsReplaced, 0);
  },
);

t.test('returns the time since the last progress as stalledMs', async (t) => {
  const clock = stopClock(t);
  const pool = openPool(t, { poolThreads: 1, poolQueue: 1 }, scriptedThread);
  t.equal(pool.stats().stalledMs, 0, 'none while idle');
  await clock.forward(60);
  const running = submit(pool);
  t.equal(pool.stats().stalledMs, 0, 'idle time does not count');
  await clock.forward(30);
  t.equal(pool.stats().stalledMs, 30);
  await clock.forward(30_000);
  t.equal(pool.stats().stalledMs, 2_030, 'a pause of the process does not count');
  await finish(running);
  await until('the pool is idle', () => pool.stats().active === 0);
  t.equal(pool.stats().stalledMs, 0);
});

t.test('rejects waiting transforms on close, and finishes running transforms', async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolQueue: 4 }, scriptedThread);
  const running = submit(pool);
  const refused = t.rejects(submit(pool).done, { code: 'overloaded' });
  const closing = pool.close();
  await refused;
  await t.rejects(submit(pool).done, { code: 'overloaded' });
  t.equal(pool.isFull('p'), true);
  running.release();
  t.equal((await running.done).etag, '"scripted"');
  await closing;
});

t.test('rejects transforms that wait too long, but not running transforms', async (t) => {
  const limits = { liveMs: 100, backgroundMs: 1e9 };
  const pool = openPool(t, { poolThreads: 1, poolQueue: 4 }, scriptedThread, limits);
  // Background work, because starting the thread can take longer than a live request is allowed to
  // wait here.
  const background = { background: true };
  const running = submit(pool, background);
  await until('it runs', running.started);
  const urgency = new Urgency('background');
  const left = submit(pool, background);
  const late = { code: 'overloaded', message: /waited too long/ };
  const refused = [
    t.rejects(submit(pool).done, late),
    t.rejects(submit(pool, { ...background, urgency }).done, late),
  ];
  urgency.promote();
  await Promise.all(refused);
  t.match(pool.stats(), { active: 1, queued: 0, backgroundQueued: 1, rejected: 2 });
  const closing = { code: 'overloaded', message: /shutting down/ };
  const ending = [t.rejects(left.done, closing), pool.close()];
  running.release();
  t.equal((await running.done).etag, '"scripted"');
  await Promise.all(ending);
});

t.test('holds bytes while a thread reads them, even after an abort', async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolQueue: 8 }, scriptedThread);
  const log: string[] = [];
  const holding = (name: string, signal: AbortSignal) => ({
    signal,
    hold: () => {
      log.push(`${name} held`);
      return () => void log.push(`${name} released`);
    },
  });
  const controller = new AbortController();
  const running = submit(pool, holding('first', controller.signal));
  const waiting = submit(pool, holding('second', controller.signal));
  await until('it runs', running.started);
  controller.abort(new Error('gone'));
  for (const { done } of [running, waiting]) await t.rejects(done, { message: 'gone' });
  t.same(log, ['first held']);
  running.release();
  await until('the pool is idle', () => pool.stats().active === 0);
  t.same(log, ['first held', 'first released']);

  await t.rejects(submit(pool, { order: 'throw', ...holding('third', patient.signal) }).done);
  await until('the pool is idle', () => pool.stats().active === 0);
  t.same(log.slice(2), ['third held', 'third released']);
});
