import t from 'tap';
import type { TransformQueue } from '../../../pool/execution/transform-queue.ts';
import type { SourceFacts } from '../../../pool/formats/facts.ts';
import { costOf, isLight } from '../../../pool/rendering/cost.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { OutputFormat, Variant } from '../../../pool/variant.ts';
import { until } from '../../until.ts';
import { sourceFacts as facts, noise, shared, variant } from '../rendering/pictures.ts';
import { openPool, patient, puppets } from './pools.ts';
import { puppetTask } from './puppet.ts';

type Order = Parameters<typeof puppetTask>;

/** Requests of projects, and the order in which they end. */
function requestsTo(pool: TransformQueue) {
  const ended: string[] = [];
  const ask = (project: string, name: string, ...order: Order) => {
    const task = puppetTask(...order);
    const done = pool.transform(task.source, variant(), { ...patient, project }).then(
      () => void ended.push(name),
      ({ code }) => void ended.push(`${name} ${code}`),
    );
    return { ...task, done };
  };
  return { ended, ask };
}

t.test('projects take turns, whoever has more waiting', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 16 }, puppets);
  const { ended, ask } = requestsTo(pool);
  const running = ask('a', 'a0', 'cost');
  await until('it runs', running.started);
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'];
  const waiting = names.map((name) => ask(name.charAt(0), name, 'cost'));
  for (const one of waiting) one.release();
  await until('those of b are known', () => waiting[4]?.looked() && waiting[5]?.looked());
  await until('the additional thread is free', () => pool.stats().active === 1);
  running.release();
  await Promise.all(waiting.map(({ done }) => done));
  t.same(ended, ['a0', 'b1', 'a1', 'b2', 'a2', 'a3', 'a4']);
});

t.test('one thread more is for a project that has none', async (t) => {
  const pool = openPool(t, { threads: 2, queue: 16 }, puppets);
  const { ask } = requestsTo(pool);
  const own = [1, 2, 3, 4].map((index) => ask('a', `a${index}`));
  t.match(pool.stats(), { active: 2, queued: 2 });
  const others = [ask('b', 'b1'), ask('b', 'b2'), ask('c', 'c1')];
  await until('the first of b runs', () => others[0]?.started());
  t.match(pool.stats(), { active: 3, queued: 4 });
  others[0]?.release();
  await until('the next of those that have none runs', () => others[1]?.started());
  t.match(pool.stats(), { active: 3, queued: 3 });
  t.notOk(own[2]?.started());
  for (const one of [...own, ...others]) one.release();
  await Promise.all([...own, ...others].map(({ done }) => done));
});

t.test('in a full queue the project with most gives way', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4 }, puppets);
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
  for (const one of [...running, ...waiting, b2]) one.release();
  await Promise.all([...running, ...waiting, b2].map(({ done }) => done));
});

t.test('with no queue another project still has the one thread more', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 0 }, puppets);
  const { ended, ask } = requestsTo(pool);
  const a = ask('a', 'a');
  t.equal(pool.isFull('a'), true);
  const b = ask('b', 'b');
  t.equal(pool.isFull('c'), true);
  for (const one of [a, b]) one.release();
  await Promise.all([a.done, b.done]);
  t.same(ended.sort(), ['a', 'b']);
});

t.test('costly transforms run as far as their memory fits, light ones pass them', async (t) => {
  const pool = openPool(t, { threads: 3, queue: 16, costlyBytes: 1_000 }, puppets);
  const { ended, ask } = requestsTo(pool);
  const first = ask('a', 'first', 'cost', 600);
  await until('it runs', first.started);
  const large = ask('a', 'large', 'cost', 5_000);
  await until('it is known to be costly', large.looked);
  const small = ask('a', 'small', 'cost', 300);
  const light = ask('a', 'light');
  light.release();
  await light.done;
  t.same(ended, ['light']);
  await until('this one too', small.looked);
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
  const pool = openPool(t, { threads: 1, queue: 16 }, puppets);
  const { ask } = requestsTo(pool);
  const own = ask('a', 'a');
  await until('it runs', own.started);
  const costly = ask('b', 'b', 'cost', 1);
  await until('it waits again', () => costly.looked() && pool.stats().active === 1);
  t.equal(pool.stats().queued, 1);
  const light = ask('c', 'c');
  await until('another runs', light.started);
  t.notOk(costly.started());
  own.release();
  light.release();
  costly.release();
  await Promise.all([own.done, light.done, costly.done]);
});

t.test('one that leaves while its cost is found does not wait again', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 4, costlyBytes: 10 }, puppets);
  const { ask } = requestsTo(pool);
  const own = ask('a', 'a', 'cost', 10);
  await until('it runs', own.started);
  const leaver = new AbortController();
  const left = pool.transform(puppetTask('cost', 1).source, variant(), {
    project: 'b',
    signal: leaver.signal,
  });
  leaver.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
  await until('its thread is free', () => pool.stats().active === 1);
  t.equal(pool.stats().queued, 0);
  own.release();
  await own.done;
});

t.test('threads find the cost of what they are given', async (t) => {
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

t.test('what is light', (t) => {
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
  t.notOk(light(facts(10_000, 10_000), 'jpeg', { width: 100 }), 'its source takes much memory');
  t.notOk(light(facts(800, 600, { kind: 'gif', frames: 100 }), 'webp', {}), 'all frames count');
  t.ok(light(facts(800, 600, { kind: 'gif', frames: 100 }), 'webp', { animated: false }));
  const late = facts(800, 600, { kind: 'gif', frames: 100, pages: 100, page: 99 });
  t.notOk(light(late, 'webp', { page: 99 }), 'a frame needs those before it');
  t.notOk(light(facts(2000, 2000, { kind: 'png' }), 'webp', { width: 100, trim: 10 }));
  t.end();
});
