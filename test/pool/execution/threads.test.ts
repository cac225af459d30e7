// Own process: looks at the threads of the process, and replaces its timers.
import { spawnSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { stopClock, stopTimers } from '../../clock.ts';
import { scriptUrl } from '../../scripts.ts';
import { until } from '../../until.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';
import { finish, openPool, patient, scriptedThread, submit } from './pools.ts';

setMaxListeners(20, patient.signal);

t.test('fails only its own request on a timeout', async (t) => {
  const tick = stopTimers(t);
  const pool = openPool(t, { poolQueue: 4, transformTimeoutMs: 2000 }, scriptedThread);
  const stuck = submit(pool, { order: 'hang' });
  await until('it runs', stuck.started);
  tick(1000);
  const waiting = submit(pool);
  waiting.release();
  tick(1000);
  await t.rejects(stuck.done, { code: 'transform_timeout' });
  t.equal((await waiting.done).etag, '"scripted"', 'waiting transforms continue');
  t.match(pool.stats(), { threadsReplaced: 1, completed: 2 });
});

t.test('excludes the queue time from the timeout', async (t) => {
  const tick = stopTimers(t);
  const clock = stopClock(t);
  const pool = openPool(t, { poolQueue: 4, transformTimeoutMs: 3500 }, scriptedThread);
  const [first, second] = [submit(pool), submit(pool)];
  await until('one runs', first.started);
  const pass = async (ms: number) => {
    tick(ms);
    await clock.forward(ms);
  };
  await pass(3400);
  await finish(first);
  await until('the other runs', second.started);
  await pass(3400);
  second.release();
  t.equal((await second.done).queueMs, 3400);
});

for (const order of ['exit', 'exhaust', 'throw'] as const) {
  t.test(`fails only the request of a thread that fails (${order})`, async (t) => {
    const pool = openPool(t, { poolThreads: 2, poolQueue: 4 }, scriptedThread);
    const neighbour = submit(pool);
    const failing = submit(pool, { order });
    const next = [submit(pool), submit(pool), submit(pool)];
    await t.rejects(failing.done, { code: 'internal_error' });
    await finish(neighbour, ...next);
    t.equal(pool.stats().threadsReplaced, order === 'throw' ? 0 : 1);
  });
}

t.test('keeps its capacity after repeated thread exits', async (t) => {
  const pool = openPool(t, { poolThreads: 2, poolQueue: 8 }, scriptedThread);
  for (let round = 1; round <= 2; round += 1) {
    const failing = [submit(pool, { order: 'exit' }), submit(pool, { order: 'exit' })];
    await Promise.all(failing.map(({ done }) => t.rejects(done, { code: 'internal_error' })));
  }
  const tasks = [submit(pool), submit(pool)];
  await until('both run', () => tasks.every((task) => task.started()));
  await finish(...tasks);
  t.equal(pool.stats().threadsReplaced, 4);
});

t.test('fails requests if the entry does not load', async (t) => {
  const pool = openPool(t, { poolThreads: 2 }, scriptUrl('no-such-file', import.meta.url));
  for (let round = 1; round <= 2; round += 1)
    await t.rejects(submit(pool).done, { code: 'internal_error' });
});

t.test('counts stuck threads, even while the additional thread works', async (t) => {
  const tick = stopTimers(t);
  const clock = stopClock(t);
  const pipe = join(t.testdir(), 'pipe');
  spawnSync('mkfifo', [pipe]);
  process.env['SCRIPTED_PIPE'] = pipe;
  const pool = openPool(
    t,
    { poolThreads: 2, poolQueue: 4, transformTimeoutMs: 20_000 },
    scriptedThread,
  );
  const unblock = () => closeSync(openSync(pipe, 'r+'));
  t.teardown(unblock);
  const light = (project: string) => finish(submit(pool, { project }));
  const block = async () => {
    const blocked = `${pipe}.blocked`;
    rmSync(blocked, { force: true });
    const { done } = submit(pool, { order: 'block' });
    const timedOut = t.rejects(done, { code: 'transform_timeout' });
    await until('it runs native code', () => existsSync(blocked));
    tick(20_000);
    await timedOut;
  };

  await block();
  t.match(pool.stats(), { stuck: 0, active: 1 }, 'a thread in JavaScript would exit now');
  await clock.forward(1_000);
  t.match(pool.stats(), { stuck: 1, stalledMs: 1_000 });
  await light('other');
  t.match(pool.stats(), { stuck: 1, stalledMs: 0 }, 'one of two works');

  await block();
  await clock.forward(1_000);
  await light('other');
  await clock.forward(1_000);
  await light('another');
  t.match(pool.stats(), { stuck: 2, active: 2, stalledMs: 2_000 });

  await until('the threads have ended', () => {
    // Again and again: a thread with a low priority can open the pipe late.
    unblock();
    return pool.stats().active === 0;
  });
  t.match(pool.stats(), { stuck: 0, stalledMs: 0, threadsReplaced: 2 });
  await Promise.all([light('other'), light('another')]);
});

t.test('ends native code at the timeout', async (t) => {
  const pool = openPool(t, { transformTimeoutMs: 2000 });
  const source = shared(await noise(5000, 5000).jpeg({ quality: 30 }).toBuffer());
  const slow = variant({ blur: 100, formats: ['png'] });
  await t.rejects(pool.transform(source, slow, patient), { code: 'transform_timeout' });
  const quick = variant({ width: 10, height: 10 });
  const small = shared(await noise(20, 20).jpeg().toBuffer());
  // A replacement's start counts towards its first transform and is slow on a busy machine.
  const works = () => pool.transform(small, quick, patient).catch(() => false);
  await until('the pool works again', works);
});

t.test("logs the stack of a thread's error", async (t) => {
  const pool = openPool(t);
  const impossible = variant({ width: 5, kernel: 'none' as never });
  const source = shared(await noise(10, 10).png().toBuffer());
  const error = await pool.transform(source, impossible, patient).catch((thrown) => thrown);
  t.equal(error.code, 'internal_error');
  const { stack } = pino.stdSerializers.err(error);
  t.match(stack, /Expected valid kernel name for kernel but received none/);
  t.match(stack, /Sharp\.resize/, 'the place');
});

t.test(
  'lowers the priority of all threads except the event loop',
  { skip: process.platform === 'linux' ? false : 'only Linux has priorities of threads' },
  async (t) => {
    const pool = openPool(t, { poolThreads: 2 });
    await pool.transform(await noise(64, 64).png().toBuffer(), variant(), patient);
    // Field 3 follows the name in parentheses. Niceness is field 19 (proc_pid_stat(5)).
    const niceness = (thread: string): number[] => {
      try {
        const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
        return [Number(stat.split(') ').at(-1)?.split(' ')[16])];
      } catch {
        // The thread ended after the listing.
        return [];
      }
    };
    const main = String(process.pid);
    await until('all but the main thread have it', () => {
      const others = readdirSync('/proc/self/task').filter((thread) => thread !== main);
      const lower = Math.min(19, getPriority() + 10);
      return others.flatMap(niceness).every((nice) => nice === lower);
    });
    t.same(niceness(main), [getPriority()], 'the main thread runs the event loop');
  },
);
