import t from 'tap';
import { until } from '../../until.ts';
import { openPool, patient, puppets } from '../execution/pools.ts';
import { puppetTask } from '../execution/puppet.ts';
import { variant } from './pictures.ts';

const background = { ...patient, background: true };

t.test('background work leaves one thread free', async (t) => {
  const pool = openPool(t, { threads: 3, queue: 8 }, puppets);
  const tasks = Array.from({ length: 5 }, () => puppetTask());
  const all = tasks.map(({ source }) => pool.transform(source, variant(), background));
  t.match(pool.stats(), { active: 2, queued: 0, backgroundQueued: 3 });
  const live = puppetTask();
  const answered = pool.transform(live.source, variant(), patient);
  t.match(pool.stats(), { active: 3, queued: 0 }, 'a live request starts at once');
  live.release();
  await answered;
  for (const task of tasks) task.release();
  await Promise.all(all);
});

t.test('a live request waits for no more than what runs', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 8 }, puppets);
  const ended: string[] = [];
  const run = async (name: string, options: typeof background | typeof patient) => {
    const task = puppetTask();
    const done = pool.transform(task.source, variant(), options).then(() => ended.push(name));
    return { ...task, done };
  };
  const tasks = [
    await run('background 1', background),
    await run('background 2', background),
    await run('live 1', patient),
    await run('live 2', patient),
  ];
  for (const task of tasks) task.release();
  await Promise.all(tasks.map(({ done }) => done));
  t.same(ended, ['background 1', 'live 1', 'live 2', 'background 2']);
});

t.test('background work makes progress while live work never ends', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 64 }, puppets);
  const started: string[] = [];
  const run = async (name: string, options: typeof background | typeof patient) => {
    const task = puppetTask();
    task.release();
    await pool.transform(task.source, variant(), options);
    started.push(name);
  };
  const all = [run('live', patient)];
  for (let i = 0; i < 3; i += 1) all.push(run('background', background));
  for (let i = 0; i < 50; i += 1) all.push(run('live', patient));
  await Promise.all(all);
  const places = started.flatMap((name, i) => (name === 'background' ? [i] : []));
  t.same(places, [16, 32, 48]);
});

t.test('background work waits where live work is refused', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 1 }, puppets);
  const tasks = [puppetTask(), puppetTask(), puppetTask()];
  const [running, queued, later] = tasks.map(({ source }, index) =>
    pool.transform(source, variant(), index === 2 ? background : patient),
  );
  t.equal(pool.isFull('p'), true);
  t.match(pool.stats(), { active: 1, queued: 1, backgroundQueued: 1, rejected: 0 });
  for (const task of tasks) task.release();
  await Promise.all([running, queued, later]);
});

t.test('it waits until its signal aborts', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 1 }, puppets);
  const task = puppetTask();
  const running = pool.transform(task.source, variant(), patient);
  const leaver = new AbortController();
  const options = { ...patient, signal: leaver.signal, background: true };
  const leaving = pool.transform(puppetTask().source, variant(), options);
  t.equal(pool.stats().backgroundQueued, 1);
  leaver.abort(new Error('enough'));
  await t.rejects(leaving, { message: 'enough' });
  t.equal(pool.stats().backgroundQueued, 0);
  task.release();
  await running;
});

t.test('waiting background work is bounded, and takes no place in the queue', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 2 }, puppets);
  const tasks = Array.from({ length: 9 }, () => puppetTask());
  const all = tasks.map(({ source }) => pool.transform(source, variant(), background));
  t.match(pool.stats(), { active: 1, queued: 0, backgroundQueued: 8 });
  t.equal(pool.isFull('p'), false);
  const refused = pool.transform(puppetTask().source, variant(), background);
  await t.rejects(refused, { code: 'overloaded' });
  t.equal(pool.stats().rejected, 1);
  for (const task of tasks) task.release();
  await Promise.all(all);
  await until('all have ended', () => pool.stats().completed === 9);
});

t.test('background work that somebody comes to wait for goes on as live work', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4 }, puppets);
  const promotion = new AbortController();
  const ended: string[] = [];
  const run = (name: string, options: { background?: boolean; promoted?: AbortSignal }) => {
    const task = puppetTask();
    const answered = pool.transform(task.source, variant(), { ...patient, ...options });
    return { release: task.release, done: answered.then(() => ended.push(name)) };
  };
  const tasks = [
    run('live 1', {}),
    run('background', { background: true }),
    run('promoted', { background: true, promoted: promotion.signal }),
    run('live 2', {}),
  ];
  t.match(pool.stats(), { active: 1, queued: 1, backgroundQueued: 2 });
  promotion.abort();
  t.match(pool.stats(), { active: 1, queued: 2, backgroundQueued: 1 });
  for (const { release } of tasks) release();
  await Promise.all(tasks.map(({ done }) => done));
  t.same(ended, ['live 1', 'live 2', 'promoted', 'background']);
});
