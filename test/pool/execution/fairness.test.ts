import t from 'tap';
import type { TransformQueue } from '../../../pool/execution/transform-queue.ts';
import type { SourceFacts } from '../../../pool/formats/facts.ts';
import { costOf, isLight } from '../../../pool/rendering/cost.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { OutputFormat, Variant } from '../../../pool/variant.ts';
import { until } from '../../until.ts';
import { sourceFacts as facts, noise, shared, variant } from '../rendering/pictures.ts';
import { finish, openPool, patient, scriptedThread, submit } from './pools.ts';
import type { Order } from './scripted-thread.ts';

/** Queues tasks of projects that record their names, or errors, when they have ended. */
function requestsTo(pool: TransformQueue) {
  const ended: string[] = [];
  const ask = (project: string, name: string, order: Order = 'answer', costBytes = 0) => {
    const task = submit(pool, { project, order, costBytes });
    const done = task.done.then(
      () => void ended.push(name),
      ({ code }) => void ended.push(`${name} ${code}`),
    );
    return { ...task, done };
  };
  return { ended, ask };
}

t.test('projects take turns', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 16 }, scriptedThread);
  const { ended, ask } = requestsTo(pool);
  const running = ask('a', 'a0', 'cost');
  await until('it runs', running.started);
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'];
  const waiting = names.map((name) => ask(name.charAt(0), name, 'cost'));
  for (const one of waiting) one.release();
  await until('the costs of b are known', () => waiting[4]?.looked() && waiting[5]?.looked());
  await until('the additional thread is free', () => pool.stats().active === 1);
  running.release();
  await Promise.all(waiting.map(({ done }) => done));
  t.same(ended, ['a0', 'b1', 'a1', 'b2', 'a2', 'a3', 'a4']);
});

t.test('the additional thread is for projects without a running transform', async (t) => {
  const pool = openPool(t, { threads: 2, queue: 16 }, scriptedThread);
  const { ask } = requestsTo(pool);
  const own = [1, 2, 3, 4].map((index) => ask('a', `a${index}`));
  t.match(pool.stats(), { active: 2, queued: 2 });
  const others = [ask('b', 'b1'), ask('b', 'b2'), ask('c', 'c1')];
  await until('the first of b runs', () => others[0]?.started());
  t.match(pool.stats(), { active: 3, queued: 4 });
  others[0]?.release();
  await until('the next one runs', () => others[1]?.started());
  t.match(pool.stats(), { active: 3, queued: 3 });
  t.notOk(own[2]?.started());
  await finish(...own, ...others);
});

t.test('a full queue displaces a transform of the project with most', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4 }, scriptedThread);
  const { ended, ask } = requestsTo(pool);
  const running = [ask('a', 'a0'), ask('b', 'b0')];
  const waiting = ['a1', 'a2', 'a3', 'b1'].map((name) => ask(name.charAt(0), name));
  t.match(pool.stats(), { active: 2, queued: 4, rejected: 0 });
  t.same([pool.isFull('a'), pool.isFull('b'), pool.isFull('c')], [true, false, false]);
  const b2 = ask('b', 'b2');
  await waiting[2]?.done;
  t.same(ended, ['a3 overloaded'], 'its last');
  t.equal(pool.isFull('b'), true, 'they have as many');
  await ask('b', 'b3').done;
  t.equal(ended.at(-1), 'b3 overloaded');
  t.match(pool.stats(), { active: 2, queued: 4, rejected: 2 });
  await finish(...running, ...waiting, b2);
});

t.test('without a queue another project has the additional thread', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 0 }, scriptedThread);
  const { ended, ask } = requestsTo(pool);
  const a = ask('a', 'a');
  t.equal(pool.isFull('a'), true);
  const b = ask('b', 'b');
  t.equal(pool.isFull('c'), true);
  await finish(a, b);
  t.same(ended.sort(), ['a', 'b']);
});

t.test('costly transforms run while their memory fits, light ones overtake them', async (t) => {
  const pool = openPool(t, { threads: 3, queue: 16, costlyBytes: 1_000 }, scriptedThread);
  const { ended, ask } = requestsTo(pool);
  const first = ask('a', 'first', 'cost', 600);
  await until('it runs', first.started);
  const large = ask('a', 'large', 'cost', 5_000);
  await until('its cost is known', large.looked);
  const small = ask('a', 'small', 'cost', 300);
  const light = ask('a', 'light');
  light.release();
  await light.done;
  t.same(ended, ['light']);
  await until('its cost is known, too', small.looked);
  await until('no thread looks at them', () => pool.stats().active === 1);
  t.match(pool.stats(), { costlyBytes: 600, costlyMaxBytes: 1_000 });
  t.notOk(small.started(), 'it does not overtake the large one');
  first.release();
  await until('the large one runs', large.started);
  t.match(pool.stats(), { active: 1, queued: 1, costlyBytes: 5_000 }, 'alone');
  large.release();
  small.release();
  await small.done;
  t.same(ended, ['light', 'first', 'large', 'small']);
  await until('the pool is idle', () => pool.stats().active === 0);
  t.match(pool.stats(), { costlyBytes: 0, completed: 4 });
});

t.test('a costly transform does not stay on the additional thread', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 16 }, scriptedThread);
  const { ask } = requestsTo(pool);
  const own = ask('a', 'a');
  await until('it runs', own.started);
  const costly = ask('b', 'b', 'cost', 1);
  await until('it waits again', () => costly.looked() && pool.stats().active === 1);
  t.equal(pool.stats().queued, 1);
  const light = ask('c', 'c');
  await until('another runs', light.started);
  t.notOk(costly.started());
  await finish(own, light, costly);
});

t.test('an abort during the estimate of the cost does not queue again', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4, costlyBytes: 10 }, scriptedThread);
  const { ask } = requestsTo(pool);
  const own = ask('a', 'a', 'cost', 10);
  await until('it runs', own.started);
  const leaver = new AbortController();
  const left = submit(pool, { order: 'cost', costBytes: 1, project: 'b', signal: leaver.signal });
  leaver.abort(new Error('left'));
  await t.rejects(left.done, { message: 'left' });
  await until('its thread is free', () => pool.stats().active === 1);
  t.equal(pool.stats().queued, 0);
  await finish(own);
});

t.test('threads estimate the cost of a transform', async (t) => {
  const pool = openPool(t, { threads: 1, costlyBytes: 1 });
  const source = shared(await noise(1600, 1200).jpeg().toBuffer());
  const costly = variant({ formats: ['avif'], lossless: true });
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, pool.stats().costlyBytes);
  }, 1);
  const made = await pool.transform(source, costly, patient);
  t.same([made.contentType, made.width], ['image/avif', 1600]);
  t.ok(most > 50e6, `${most} bytes`);
  clearInterval(look);
});

t.test('light transforms', (t) => {
  const light = (source: SourceFacts, format: OutputFormat, more: Partial<Variant> = {}) => {
    const asked = variant({ formats: [format], ...more });
    return isLight(costOf(source, makePlan(source, null, asked, 100e6), asked));
  };
  const photo = facts(4000, 3000);
  for (const format of ['avif', 'webp', 'jpeg', 'png'] as const) {
    t.ok(light(photo, format, { width: 800 }), format);
    t.notOk(light(photo, format, { width: 1200, median: 3 }));
  }
  t.ok(light(photo, 'jpeg', { width: 2000 }));
  t.ok(light(photo, 'webp', { width: 1600 }));
  t.notOk(light(photo, 'avif', {}));
  t.notOk(light(photo, 'webp', { width: 1600, lossless: true }));
  t.notOk(light(facts(10_000, 10_000), 'jpeg', { width: 100 }), 'its source needs much memory');
  t.notOk(light(facts(800, 600, { kind: 'gif', frames: 100 }), 'webp', {}), 'all frames count');
  t.ok(light(facts(800, 600, { kind: 'gif', frames: 100 }), 'webp', { animated: false }));
  const late = facts(800, 600, { kind: 'gif', frames: 100, pages: 100, page: 99 });
  t.notOk(light(late, 'webp', { page: 99 }), 'a frame needs those before it');
  t.notOk(light(facts(2000, 2000, { kind: 'png' }), 'webp', { width: 100, trim: 10 }));
  t.end();
});
