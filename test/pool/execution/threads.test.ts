import { spawnSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { stopClock, stopTimers } from '../../clock.ts';
import { scriptUrl } from '../../scripts.ts';
import { until } from '../../until.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';
import { openPool, patient, puppets } from './pools.ts';
import { puppetTask } from './puppet.ts';

setMaxListeners(20, patient.signal);

t.test('a transform that takes too long costs its own request only', async (t) => {
  const tick = stopTimers(t);
  const pool = openPool(t, { threads: 1, queue: 4, transformTimeoutMs: 2000 }, puppets);
  const next = puppetTask();
  const hanging = puppetTask('hang');
  const stuck = pool.transform(hanging.source, variant(), patient);
  await until('it runs', hanging.started);
  tick(1000);
  const waiting = pool.transform(next.source, variant(), patient);
  next.release();
  tick(1000);
  await t.rejects(stuck, { code: 'transform_timeout' });
  t.equal((await waiting).etag, '"puppet"', 'those who wait go on');
  t.match(pool.stats(), { threadsReplaced: 1, completed: 2 });
});

t.test('time in the queue does not count for the timeout', async (t) => {
  const tick = stopTimers(t);
  const clock = stopClock(t);
  const pool = openPool(t, { threads: 1, queue: 4, transformTimeoutMs: 3500 }, puppets);
  const tasks = [puppetTask(), puppetTask()];
  const [first, second] = tasks.map(({ source }) => pool.transform(source, variant(), patient));
  await until('one runs', () => tasks[0]?.started() === true);
  const pass = async (ms: number) => {
    tick(ms);
    await clock.forward(ms);
  };
  await pass(3400);
  tasks[0]?.release();
  await first;
  await until('the other runs', () => tasks[1]?.started() === true);
  await pass(3400);
  tasks[1]?.release();
  t.equal((await second)?.queueMs, 3400, 'and is told apart');
});

for (const order of ['exit', 'exhaust', 'throw'] as const) {
  t.test(`a thread that dies (${order}) costs its own request only`, async (t) => {
    const pool = openPool(t, { threads: 2, queue: 4 }, puppets);
    const beside = puppetTask();
    const next = [puppetTask(), puppetTask(), puppetTask()];
    const besides = pool.transform(beside.source, variant(), patient);
    const dying = pool.transform(puppetTask(order).source, variant(), patient);
    const later = next.map(({ source }) => pool.transform(source, variant(), patient));
    await t.rejects(dying, { code: 'internal_error' });
    for (const task of [beside, ...next]) task.release();
    t.equal((await besides).etag, '"puppet"', 'the one beside it is done');
    t.equal((await Promise.all(later)).length, 3, 'so are those that waited');
    t.equal(pool.stats().threadsReplaced, order === 'throw' ? 0 : 1);
  });
}

t.test('threads die many times without a loss of capacity', async (t) => {
  const pool = openPool(t, { threads: 2, queue: 8 }, puppets);
  for (let round = 1; round <= 2; round += 1) {
    const dying = [puppetTask('exit'), puppetTask('exit')];
    await Promise.all(
      dying.map(({ source }) =>
        t.rejects(pool.transform(source, variant(), patient), { code: 'internal_error' }),
      ),
    );
  }
  const tasks = [puppetTask(), puppetTask()];
  const all = tasks.map(({ source }) => pool.transform(source, variant(), patient));
  await until('both run', () => tasks.every((task) => task.started()));
  for (const task of tasks) task.release();
  await Promise.all(all);
  t.equal(pool.stats().threadsReplaced, 4);
});

t.test('an entry that cannot be loaded fails requests instead of holding them', async (t) => {
  const pool = openPool(t, { threads: 2 }, scriptUrl('no-such-file', import.meta.url));
  for (let round = 1; round <= 2; round += 1) {
    await t.rejects(pool.transform(puppetTask().source, variant(), patient), {
      code: 'internal_error',
    });
  }
});

t.test('a thread that cannot be ended yet keeps its place', async (t) => {
  const tick = stopTimers(t);
  const pool = openPool(t, { threads: 1, queue: 4, transformTimeoutMs: 1000 }, puppets);
  const stuck = puppetTask('native');
  const refused = t.rejects(pool.transform(stuck.source, variant(), patient), {
    code: 'transform_timeout',
  });
  await until('it runs', stuck.started);
  tick(1000);
  await refused;
  t.match(pool.stats(), { active: 1 }, 'its caller was answered long before');
  const next = puppetTask();
  next.release();
  t.equal((await pool.transform(next.source, variant(), patient)).etag, '"puppet"');
});

t.test('stuck threads are counted, and what the additional one ends hides none', async (t) => {
  const tick = stopTimers(t);
  const clock = stopClock(t);
  const pipe = join(t.testdir(), 'pipe');
  spawnSync('mkfifo', [pipe]);
  process.env['PUPPET_PIPE'] = pipe;
  const pool = openPool(t, { threads: 2, queue: 4, transformTimeoutMs: 20_000 }, puppets);
  const unblock = () => closeSync(openSync(pipe, 'r+'));
  t.teardown(unblock);
  const light = async (project: string) => {
    const task = puppetTask();
    task.release();
    await pool.transform(task.source, variant(), { ...patient, project });
  };
  const block = async () => {
    const { source, started } = puppetTask('block');
    const timedOut = t.rejects(pool.transform(source, variant(), patient), {
      code: 'transform_timeout',
    });
    await until('it runs', started);
    tick(20_000);
    await timedOut;
  };

  await block();
  t.match(pool.stats(), { stuck: 0 }, 'one in JavaScript would end now');
  await clock.forward(1_000);
  t.match(pool.stats(), { stuck: 1, stalledMs: 1_000 });
  await light('other');
  t.match(pool.stats(), { stuck: 1, stalledMs: 0 }, 'one of two still works');

  await block();
  await clock.forward(1_000);
  await light('other');
  await clock.forward(1_000);
  await light('another');
  t.match(pool.stats(), { stuck: 2, active: 2, stalledMs: 2_000 });

  unblock();
  await until('the threads have ended', () => pool.stats().active === 0);
  t.match(pool.stats(), { stuck: 0, stalledMs: 0, threadsReplaced: 2 });
  await Promise.all([light('other'), light('another')]);
});

t.test('native work that takes too long ends too', async (t) => {
  const pool = openPool(t, { transformTimeoutMs: 2000 });
  const source = shared(await noise(5000, 5000).jpeg({ quality: 30 }).toBuffer());
  const slow = variant({ blur: 100, formats: ['png'] });
  await t.rejects(pool.transform(source, slow, patient), { code: 'transform_timeout' });
  const quick = variant({ width: 10, height: 10 });
  const small = shared(await noise(20, 20).jpeg().toBuffer());
  // A successor's start counts as its first transform's time, of which a busy machine takes much.
  await until('the pool works again', () =>
    pool.transform(small, quick, patient).then(
      ({ width }) => width === 10,
      () => false,
    ),
  );
});

t.test('the log shows what a thread failed of', async (t) => {
  const pool = openPool(t);
  const impossible = variant({ width: 5, kernel: 'none' as never });
  const error = await pool
    .transform(shared(await noise(10, 10).png().toBuffer()), impossible, patient)
    .then(
      () => null,
      (thrown) => thrown,
    );
  t.equal(error.code, 'internal_error');
  const { stack } = pino.stdSerializers.err(error);
  t.match(stack, /Expected valid kernel name for kernel but received none/);
  t.match(stack, /steps\.ts/, 'and where');
});

t.test(
  'only the event loop has the priority of the process',
  { skip: process.platform === 'linux' ? false : 'Linux alone has priorities of threads' },
  async (t) => {
    const pool = openPool(t, { threads: 2 });
    await pool.transform(await noise(64, 64).png().toBuffer(), variant(), patient);
    // Fields 3 and on follow the name in parentheses; niceness is number 19 (proc_pid_stat(5)).
    const niceness = (thread: string) =>
      Number(
        readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[16],
      );
    await until('both threads run', () => {
      const [first, ...others] = readdirSync('/proc/self/task').map(niceness);
      return (
        first === getPriority() && others.every((nice) => nice === Math.min(19, getPriority() + 5))
      );
    });
  },
);
