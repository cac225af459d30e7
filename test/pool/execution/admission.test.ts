import t from 'tap';
import { stopClock } from '../../clock.ts';
import { until } from '../../until.ts';
import { variant } from '../rendering/pictures.ts';
import { openPool, patient, puppets } from './pools.ts';
import { puppetTask } from './puppet.ts';

t.test('what does not fit into threads and queue is refused at once', async (t) => {
  const pool = openPool(t, { threads: 2, queue: 3 }, puppets);
  const tasks = Array.from({ length: 5 }, () => puppetTask());
  const accepted = tasks.map(({ source }) => pool.transform(source, variant(), patient));
  t.equal(pool.isFull('p'), true);
  t.match(pool.stats(), { active: 2, queued: 3, concurrency: 2, maxQueue: 3, rejected: 0 });
  const refused = pool.transform(puppetTask().source, variant(), patient);
  await t.rejects(refused, { code: 'overloaded' });
  t.equal(pool.stats().rejected, 1);

  for (const task of tasks) task.release();
  t.equal((await Promise.all(accepted)).length, 5, 'what was accepted is done');
  await until('the pool is idle', () => pool.stats().active === 0);
  t.equal(pool.isFull('p'), false);
  t.match(pool.stats(), { active: 0, queued: 0, rejected: 1, completed: 5, stalledMs: 0 });
});

t.test('the first to come is the first to run', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 8 }, puppets);
  const ended: number[] = [];
  const tasks = Array.from({ length: 8 }, () => puppetTask());
  const all = tasks.map(async ({ source }, index) => {
    await pool.transform(source, variant(), patient);
    ended.push(index);
  });
  for (const task of tasks) task.release();
  await Promise.all(all);
  t.same(ended, [0, 1, 2, 3, 4, 5, 6, 7]);
});

t.test('with no queue only the threads count', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 0 }, puppets);
  const task = puppetTask();
  const running = pool.transform(task.source, variant(), patient);
  await t.rejects(pool.transform(task.source, variant(), patient), { code: 'overloaded' });
  task.release();
  await running;
});

t.test('one that gives up while it waits leaves the queue at once', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 2 }, puppets);
  const running = puppetTask();
  const first = pool.transform(running.source, variant(), patient);
  const leaver = new AbortController();
  const left = puppetTask();
  const leaving = pool.transform(left.source, variant(), { ...patient, signal: leaver.signal });
  const staying = puppetTask();
  const second = pool.transform(staying.source, variant(), patient);
  t.equal(pool.isFull('p'), true);

  const reason = new Error('gone');
  leaver.abort(reason);
  await t.rejects(leaving, reason);
  t.match(pool.stats(), { active: 1, queued: 1 });
  t.equal(pool.isFull('p'), false, 'its place is free');

  running.release();
  staying.release();
  await Promise.all([first, second]);
  t.equal(left.started(), false, 'it never ran');
});

t.test('one that gives up while it runs is answered at once, its thread stays busy', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 2 }, puppets);
  const task = puppetTask();
  const leaver = new AbortController();
  const leaving = pool.transform(task.source, variant(), { ...patient, signal: leaver.signal });
  await until('it runs', task.started);
  leaver.abort();
  await t.rejects(leaving, { name: 'AbortError' });
  t.equal(pool.stats().active, 1);

  const next = puppetTask();
  const waiting = pool.transform(next.source, variant(), patient);
  t.equal(pool.stats().queued, 1);
  task.release();
  next.release();
  await waiting;
  t.equal(pool.stats().threadsReplaced, 0);
});

t.test('a signal that was aborted before is not queued', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 0 }, puppets);
  const reason = new Error('before');
  const options = { ...patient, signal: AbortSignal.abort(reason) };
  await t.rejects(pool.transform(puppetTask().source, variant(), options), reason);
  t.equal(pool.stats().active, 0);
});

t.test('the time without progress is told', async (t) => {
  const clock = stopClock(t);
  const pool = openPool(t, { threads: 1, queue: 1 }, puppets);
  t.equal(pool.stats().stalledMs, 0, 'none while idle');
  await clock.forward(60);
  const task = puppetTask();
  const running = pool.transform(task.source, variant(), patient);
  t.equal(pool.stats().stalledMs, 0, 'idle time does not count');
  await clock.forward(30);
  t.equal(pool.stats().stalledMs, 30);
  task.release();
  await running;
  await until('the pool is idle', () => pool.stats().active === 0);
  t.equal(pool.stats().stalledMs, 0);
});

t.test('closing refuses what waits and lets end what runs', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4 }, puppets);
  const task = puppetTask();
  const running = pool.transform(task.source, variant(), patient);
  const waiting = pool.transform(puppetTask().source, variant(), patient);
  const refused = t.rejects(waiting, { code: 'overloaded' });
  const closing = pool.close();
  await refused;
  await t.rejects(pool.transform(task.source, variant(), patient), { code: 'overloaded' });
  t.equal(pool.isFull('p'), true);
  task.release();
  t.equal((await running).etag, '"puppet"');
  await closing;
});

t.test('what waits too long is refused, what runs is not', async (t) => {
  const limits = { liveMs: 100, backgroundMs: 1e9 };
  const pool = openPool(t, { threads: 1, queue: 4 }, puppets, limits);
  const task = puppetTask();
  // The thread may take longer to start than a live request may wait here.
  const background = { ...patient, background: true };
  const running = pool.transform(task.source, variant(), background);
  await until('it runs', task.started);
  const promotion = new AbortController();
  const promoted = { ...background, promoted: promotion.signal };
  const left = pool.transform(puppetTask().source, variant(), background);
  const late = { code: 'overloaded', message: /waited too long/ };
  const refused = [
    t.rejects(pool.transform(puppetTask().source, variant(), patient), late),
    t.rejects(pool.transform(puppetTask().source, variant(), promoted), late),
  ];
  promotion.abort();
  await Promise.all(refused);
  t.match(pool.stats(), { active: 1, queued: 0, backgroundQueued: 1, rejected: 2 });
  const ending = [t.rejects(left, { code: 'overloaded', message: /shutting down/ }), pool.close()];
  task.release();
  t.equal((await running).etag, '"puppet"');
  await Promise.all(ending);
});

t.test('the bytes are held for as long as a thread reads them, whoever still waits', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 8 }, puppets);
  const log: string[] = [];
  const holding = (name: string, signal: AbortSignal) => ({
    project: 'p',
    signal,
    hold: () => {
      log.push(`${name} held`);
      return () => void log.push(`${name} released`);
    },
  });
  const leaver = new AbortController();
  const task = puppetTask();
  const running = pool.transform(task.source, variant(), holding('first', leaver.signal));
  const waits = pool.transform(puppetTask().source, variant(), holding('second', leaver.signal));
  await until('it runs', task.started);
  leaver.abort(new Error('gone'));
  await t.rejects(running, { message: 'gone' });
  await t.rejects(waits, { message: 'gone' });
  t.same(log, ['first held']);
  task.release();
  await until('the pool is idle', () => pool.stats().active === 0);
  t.same(log, ['first held', 'first released']);

  const failing = puppetTask('throw');
  await t.rejects(pool.transform(failing.source, variant(), holding('third', patient.signal)));
  await until('the pool is idle', () => pool.stats().active === 0);
  t.same(log.slice(2), ['third held', 'third released']);
});
