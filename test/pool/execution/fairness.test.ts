import t from 'tap';
import type { SourceFacts } from '../../../pool/formats/source-format.ts';
import type { OutputFormat } from '../../../pool/rendering/encode/encodings.ts';
import { computeCost, isLight } from '../../../pool/rendering/execution-plan.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { Variant } from '../../../pool/variant.ts';
import { until } from '../../until.ts';
import { formatNamed } from '../formats/named.ts';
import { sourceFacts as facts, noise, shared, variant } from '../rendering/pictures.ts';
import { finish, openPool, openScripted, patient, submit } from './pools.ts';

t.test('alternates between projects', async (t) => {
  const { pool, ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 16 });
  const running = run('a0', { project: 'a', order: 'cost' });
  await until('it runs', running.started);
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'];
  const waiting = names.map((name) => run(name, { project: name.charAt(0), order: 'cost' }));
  for (const transform of waiting) transform.release();
  await until(
    'the costs of b are known',
    () => waiting[4]?.costReturned() && waiting[5]?.costReturned(),
  );
  await until('the additional thread is free', () => pool.stats().active === 1);
  running.release();
  await Promise.all(waiting.map(({ done }) => done));
  t.same(ended, ['a0', 'b1', 'a1', 'b2', 'a2', 'a3', 'a4']);
});

t.test('reserves the additional thread for projects with no running transform', async (t) => {
  const { pool, run } = openScripted(t, { poolThreads: 2, poolQueue: 16 });
  const own = [1, 2, 3, 4].map((index) => run(`a${index}`, { project: 'a' }));
  t.match(pool.stats(), { active: 2, queued: 2 });
  const others = ['b1', 'b2', 'c1'].map((name) => run(name, { project: name.charAt(0) }));
  await until('the first of b runs', () => others[0]?.started());
  t.match(pool.stats(), { active: 3, queued: 4 });
  others[0]?.release();
  await until('the next one runs', () => others[1]?.started());
  t.match(pool.stats(), { active: 3, queued: 3 });
  t.notOk(own[2]?.started());
  await finish(...own, ...others);
});

t.test('drops a transform of the busiest project when the queue is full', async (t) => {
  const { pool, ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 4 });
  const running = [run('a0', { project: 'a' }), run('b0', { project: 'b' })];
  const waiting = ['a1', 'a2', 'a3', 'b1'].map((name) => run(name, { project: name.charAt(0) }));
  t.match(pool.stats(), { active: 2, queued: 4, rejected: 0 });
  t.same([pool.isFull('a'), pool.isFull('b'), pool.isFull('c')], [true, false, false]);
  const b2 = run('b2', { project: 'b' });
  await waiting[2]?.done;
  t.same(ended, ['a3 overloaded'], 'its newest');
  t.equal(pool.isFull('b'), true, 'both have as many');
  await run('b3', { project: 'b' }).done;
  t.equal(ended.at(-1), 'b3 overloaded');
  t.match(pool.stats(), { active: 2, queued: 4, rejected: 2 });
  await finish(...running, ...waiting, b2);
});

t.test('gives another project the additional thread if there is no queue', async (t) => {
  const { pool, ended, run } = openScripted(t, { poolThreads: 1, poolQueue: 0 });
  const a = run('a', { project: 'a' });
  t.equal(pool.isFull('a'), true);
  const b = run('b', { project: 'b' });
  t.equal(pool.isFull('c'), true);
  await finish(a, b);
  t.same(ended.sort(), ['a', 'b']);
});

t.test(
  'runs costly transforms while their memory fits, and lets light transforms overtake',
  async (t) => {
    const { pool, ended, run } = openScripted(t, {
      poolThreads: 3,
      poolQueue: 16,
      poolMemoryBytes: 1_000,
    });
    const first = run('first', { project: 'a', order: 'cost', costBytes: 600 });
    await until('it runs', first.started);
    const large = run('large', { project: 'a', order: 'cost', costBytes: 5_000 });
    await until('its cost is known', large.costReturned);
    const small = run('small', { project: 'a', order: 'cost', costBytes: 300 });
    const light = run('light', { project: 'a' });
    light.release();
    await light.done;
    t.same(ended, ['light']);
    await until('its cost is known, too', small.costReturned);
    await until('no thread estimates their costs', () => pool.stats().active === 1);
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
  },
);

/** Submits a project's heavy transform, which waits again once its cost is available. */
async function heavy(
  { run }: Pick<ReturnType<typeof openScripted>, 'run'>,
  name: string,
  costBytes: number,
  more: { readonly background?: boolean } = {},
) {
  const task = run(name, { project: name.charAt(0), order: 'cost', costBytes, ...more });
  await until(`the cost of ${name} is known`, task.costReturned);
  return task;
}

t.test('reserves memory for the heavy transform in turn, of any project', async (t) => {
  const { pool, ...names } = openScripted(t, {
    poolThreads: 8,
    poolQueue: 16,
    poolMemoryBytes: 1_000,
  });
  const running = await heavy(names, 'a1', 600);
  await until('it runs', running.started);
  const large = await heavy(names, 'b1', 700);
  const later = [
    await heavy(names, 'a2', 100),
    await heavy(names, 'c1', 100),
    await heavy(names, 'd1', 100, { background: true }),
  ];
  const light = names.run('b2', { project: 'b' });
  await finish(light);
  await until('no thread estimates costs', () => pool.stats().active === 1);
  t.match(pool.stats(), { queued: 3, backgroundQueued: 1, costlyBytes: 600 });
  running.release();
  await until('the large one runs', large.started);
  await until('the others run beside it', () => later.every((transform) => transform.started()));
  await finish(running, large, ...later);
});

t.test('reserves memory for the project with fewer running heavy transforms', async (t) => {
  const { pool, ...names } = openScripted(t, {
    poolThreads: 8,
    poolQueue: 16,
    poolMemoryBytes: 1_000,
  });
  const [first, other] = [await heavy(names, 'a1', 600), await heavy(names, 'b1', 300)];
  await until('both run', () => first.started() && other.started());
  const [large, small] = [await heavy(names, 'b2', 700), await heavy(names, 'a2', 300)];
  await finish(other);
  await finish(names.run('c', { project: 'c' }));
  await until('no thread estimates costs', () => pool.stats().active === 1);
  t.notOk(small.started(), 'its project has a running one, although b started later');
  first.release();
  await until('the large one runs', large.started);
  await finish(first, large, small);
});

t.test('runs heavy transforms of an idle project before more of a busy project', async (t) => {
  const { pool, ...names } = openScripted(t, {
    poolThreads: 8,
    poolQueue: 16,
    poolMemoryBytes: 1_000,
  });
  const first = await heavy(names, 'a1', 700);
  await until('it runs', first.started);
  const second = await heavy(names, 'a2', 700);
  await finish(...Array.from({ length: 3 }, () => names.run('b', { project: 'b' })));
  const other = await heavy(names, 'b1', 300);
  await until('another runs beside it', other.started);
  const large = await heavy(names, 'c1', 600);
  const third = await heavy(names, 'a3', 700);
  await until('no thread estimates costs', () => pool.stats().active === 2);
  t.notOk(second.started() || large.started());
  first.release();
  await until('c runs', large.started);
  t.notOk(second.started(), 'a has had its turn');
  await finish(other, large, second, third);
  t.same(
    names.ended.filter((name) => name.startsWith('a')),
    ['a1', 'a2', 'a3'],
  );
});

t.test(
  "leaves memory to another project's transform next to a transform above the limit",
  async (t) => {
    const { pool, ...names } = openScripted(t, {
      poolThreads: 8,
      poolQueue: 16,
      poolMemoryBytes: 1_000,
    });
    const alone = await heavy(names, 'a1', 5_000);
    await until('it runs', alone.started);
    const own = await heavy(names, 'a2', 100);
    const neighbour = await heavy(names, 'b1', 500);
    await until('another runs beside it', neighbour.started);
    const more = await heavy(names, 'c1', 100);
    await until('no thread estimates costs', () => pool.stats().active === 2);
    t.notOk(own.started() || more.started());
    neighbour.release();
    await until('the next one runs beside it', more.started);
    const large = await heavy(names, 'd1', 5_000);
    await finish(more);
    await until('no thread estimates costs', () => pool.stats().active === 1);
    t.notOk(large.started() || own.started());
    alone.release();
    await until('it runs alone', large.started);
    await finish(own, large);
  },
);

t.test("keeps a thread free of one project's heavy transforms", async (t) => {
  const { pool, ...names } = openScripted(t, { poolThreads: 3, poolQueue: 16 });
  const own = [
    await heavy(names, 'a1', 1),
    await heavy(names, 'a2', 1),
    await heavy(names, 'a3', 1),
  ];
  await until('two run', () => own.filter((transform) => transform.started()).length === 2);
  await until('no thread estimates costs', () => pool.stats().active === 2);
  const other = await heavy(names, 'b1', 1);
  await until('another runs', other.started);
  await finish(...own, other);
});

t.test('does not leave a costly transform on the additional thread', async (t) => {
  const { pool, run } = openScripted(t, { poolThreads: 1, poolQueue: 16 });
  const own = run('a', { project: 'a' });
  await until('it runs', own.started);
  const costly = run('b', { project: 'b', order: 'cost', costBytes: 1 });
  await until('it waits again', () => costly.costReturned() && pool.stats().active === 1);
  t.equal(pool.stats().queued, 1);
  const light = run('c', { project: 'c' });
  await until('another runs', light.started);
  t.notOk(costly.started());
  await finish(own, light, costly);
});

t.test('does not queue a transform again if it aborts during its cost estimate', async (t) => {
  const { pool, run } = openScripted(t, { poolThreads: 1, poolQueue: 4, poolMemoryBytes: 10 });
  const own = run('a', { project: 'a', order: 'cost', costBytes: 10 });
  await until('it runs', own.started);
  const controller = new AbortController();
  const left = submit(pool, {
    order: 'cost',
    costBytes: 1,
    project: 'b',
    signal: controller.signal,
  });
  controller.abort(new Error('left'));
  await t.rejects(left.done, { message: 'left' });
  await until('its thread is free', () => pool.stats().active === 1);
  t.equal(pool.stats().queued, 0);
  await finish(own);
});

t.test("estimates a transform's cost on a thread", async (t) => {
  const pool = openPool(t, { poolThreads: 1, poolMemoryBytes: 1 });
  const source = shared(await noise(1600, 1200).jpeg().toBuffer());
  const costly = variant({ formats: ['avif'], lossless: true });
  const made = pool.transform(source, costly, patient);
  await until('its memory counts', () => pool.stats().costlyBytes > 50e6);
  t.match(await made, { contentType: 'image/avif', width: 1600 });
});

t.test('classifies light transforms', (t) => {
  const light = (source: SourceFacts, format: OutputFormat, more: Partial<Variant> = {}) => {
    const requested = variant({ formats: [format], ...more });
    return isLight(computeCost(source, makePlan(source, null, requested, 100e6), requested));
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
  t.notOk(
    light(facts(800, 600, { format: formatNamed('gif'), frames: 100 }), 'webp', {}),
    'all frames count',
  );
  t.ok(
    light(facts(800, 600, { format: formatNamed('gif'), frames: 100 }), 'webp', {
      animated: false,
    }),
  );
  const late = facts(800, 600, { format: formatNamed('gif'), frames: 100, pages: 100, page: 99 });
  t.notOk(light(late, 'webp', { page: 99 }), 'a frame needs those before it');
  t.notOk(
    light(facts(2000, 2000, { format: formatNamed('png') }), 'webp', { width: 100, trim: 10 }),
  );
  t.end();
});
