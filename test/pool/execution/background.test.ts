import t from 'tap';
import { Urgency } from '../../../pool/single-flight.ts';
import { until } from '../../until.ts';
import { finish, openPool, openScripted, scriptedThread, submit } from './pools.ts';

const background = { background: true };

t.test('leaves two threads free for live work', async (t) => {
  const pool = openPool(t, { poolThreads: 4, poolQueue: 8 }, scriptedThread);
  const tasks = Array.from({ length: 5 }, () => submit(pool, background));
  t.match(pool.stats(), { active: 2, queued: 0, backgroundQueued: 3 });
  const live = submit(pool);
  t.match(pool.stats(), { active: 3, queued: 0 }, 'a live request starts at once');
  await finish(live);
  await finish(...tasks);
});

t.test('makes live requests wait only for running transforms', async (t) => {
  const { ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 8 });
  const tasks = ['background 1', 'background 2', 'live 1', 'live 2'];
  await finish(...tasks.map((name) => run(name, { background: name.startsWith('b') })));
  t.same(ended, ['background 1', 'live 1', 'live 2', 'background 2']);
});

t.test('continues background work during continuous live work', async (t) => {
  const { ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 64 });
  const tasks = [run('live')];
  for (let i = 0; i < 3; i += 1) tasks.push(run('background', background));
  for (let i = 0; i < 50; i += 1) tasks.push(run('live'));
  await finish(...tasks);
  const places = ended.flatMap((name, i) => (name === 'background' ? [i] : []));
  t.same(places, [16, 32, 48]);
});

t.test(
  'queues background work while the live queue is full, until its signal aborts',
  async (t) => {
    const pool = openPool(t, { poolThreads: 1, poolQueue: 1 }, scriptedThread);
    const controller = new AbortController();
    const tasks = [submit(pool), submit(pool), submit(pool, background)];
    const leaving = submit(pool, { signal: controller.signal, background: true });
    t.equal(pool.isFull('p'), true);
    t.match(pool.stats(), { active: 1, queued: 1, backgroundQueued: 2, rejected: 0 });
    controller.abort(new Error('enough'));
    await t.rejects(leaving.done, { message: 'enough' });
    t.equal(pool.stats().backgroundQueued, 1);
    await finish(...tasks);
  },
);

t.test('limits the background queue, and takes no slot in the live queue', async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolQueue: 2 }, scriptedThread);
  const tasks = Array.from({ length: 9 }, () => submit(pool, background));
  t.match(pool.stats(), { active: 1, queued: 0, backgroundQueued: 8 });
  t.equal(pool.isFull('p'), false);
  await t.rejects(submit(pool, background).done, { code: 'overloaded' });
  t.equal(pool.stats().rejected, 1);
  await finish(...tasks);
  await until('all have ended', () => pool.stats().completed === 9);
});

t.test('continues promoted background work as live work', async (t) => {
  const { pool, ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 4 });
  const urgency = new Urgency('background');
  const tasks = [
    run('live 1'),
    run('background', background),
    run('promoted', { background: true, urgency }),
    run('live 2'),
  ];
  t.match(pool.stats(), { active: 1, queued: 1, backgroundQueued: 2 });
  urgency.promote();
  t.match(pool.stats(), { active: 1, queued: 2, backgroundQueued: 1 });
  await finish(...tasks);
  t.same(ended, ['live 1', 'live 2', 'promoted', 'background']);
});
