import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { onlyProcess } from '../../pool/coalescer.ts';
import { type CacheResult, Engine } from '../../pool/engine.ts';
import { Schedule } from '../../pool/execution/schedule.ts';
import type { Variant } from '../../pool/variant.ts';
import { stopClock } from '../clock.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { until } from '../until.ts';
import { noise, variant } from './rendering/pictures.ts';
import { startOrigin } from './source/origin.ts';

interface Arrangement {
  readonly engine: Engine;
  readonly key: (name: string) => string;
  readonly get: (
    name: string,
    path: string,
    more?: Partial<Variant>,
    project?: string,
  ) => Promise<CacheResult>;
  readonly joined: readonly string[];
}

/** An engine with one thread. */
async function startEngine(t: Test, queue: number, url: (path: string) => URL) {
  const folder = await mkdtemp(join(temporaryRoot, 'cache-'));
  const joined: string[] = [];
  const settings = {
    threads: 1,
    queue,
    costlyBytes: 1e9,
    fetchConcurrency: 8,
    memoryCacheBytes: 0,
    diskCacheFolder: folder,
    privateSources: ['127.0.0.1:*'],
    sourcePorts: null,
    dnsServers: null,
    sourceMaxBytes: 1e8,
    sourceHeldBytes: 1e9,
    sourceMaxPixels: 1e8,
    sourceTimeoutMs: 60_000,
    processMemoryBytes: 2 ** 30,
    transformTimeoutMs: 60_000,
    own: { urls: [], ports: [1] },
  };
  const engine = new Engine(settings, {
    coalescer: {
      join: (key, participant) => {
        joined.push(key);
        return onlyProcess.join(key, participant);
      },
    },
    disk: { writing() {}, written() {}, stored() {}, read() {}, removed() {}, failed() {} },
    onMemoryHit() {},
    onRender() {},
    now: Date.now,
  });
  t.teardown(async () => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });
  const key = (name: string) => name.padStart(64, '0');
  const get: Arrangement['get'] = (name, path, more = {}, project = 'a') =>
    engine.get(
      key(name),
      {
        project,
        source: url(path),
        allowed: () => true,
        background: false,
        variant: variant({ width: 20, ...more }),
      },
      new AbortController().signal,
    );
  return { engine, key, get, joined } satisfies Arrangement;
}

/** Takes seconds. */
const long = { width: null, formats: ['avif'], lossless: true } as const;

t.test('a full queue refuses misses before coalescing and fetching', async (t) => {
  const picture = await noise(1600, 1200).jpeg().toBuffer();
  const origin = await startOrigin(t, (_, response) => response.end(picture));
  const { engine, key, get, joined } = await startEngine(t, 0, origin.url);

  await get('1', '/1');
  await until('it is on the disk', async () => (await get('1', '/1')).tier === 'disk');
  const before = [...joined];
  const busy = get('2', '/2', long);
  await until('it runs', () => engine.stats().transforms.costlyBytes > 0);
  const requests = origin.requests.length;
  const refusals = engine.stats().refused;
  await t.rejects(get('3', '/3'), { code: 'overloaded' });
  t.same(joined, [...before, key('2')]);
  t.equal(origin.requests.length, requests);
  t.equal(engine.stats().refused, refusals + 1);
  t.equal((await get('1', '/1')).tier, 'disk');
  t.equal((await get('4', '/4', {}, 'b')).tier, 'miss', 'another project has a place');
  t.equal((await busy).tier, 'miss');
});

t.test('each fetch of a live request has a place in the queue', async (t) => {
  const picture = await noise(1600, 1200).jpeg().toBuffer();
  const held: (() => void)[] = [];
  const origin = await startOrigin(t, ({ url }, response) => {
    if (url?.startsWith('/held')) held.push(() => response.end(picture));
    else response.end(picture);
  });
  const { engine, get } = await startEngine(t, 4, origin.url);
  const busy = get('1', '/1', long);
  await until('it runs', () => engine.stats().transforms.costlyBytes > 0);
  const waiting = ['2', '3', '4'].map((name) => get(name, `/${name}`));
  await until('three wait', () => engine.stats().transforms.queued === 3);
  const coming = get('5', '/held');
  await until('the source is requested', () => held.length === 1);
  const requests = origin.requests.length;
  await t.rejects(get('6', '/6'), { code: 'overloaded' }, 'the last place is taken');
  t.equal(origin.requests.length, requests);
  for (const release of held) release();
  for (const one of [busy, ...waiting, coming]) t.equal((await one).tier, 'miss');
  t.equal((await get('6', '/6')).tier, 'miss');
});

t.test('recent reservations count while the threads are busy', async (t) => {
  const clock = stopClock(t);
  const task = (project: string) => ({ project, queuedAt: 0, background: false, cost: null });
  const schedule = new Schedule({ threads: 1, queue: 4, costlyBytes: 1e9 });
  const announced = Array.from({ length: 5 }, () => schedule.reserve('a'));
  t.equal(schedule.willBeFull('a'), false, 'the thread is idle');
  schedule.add(task('a'));
  schedule.start();
  t.equal(schedule.willBeFull('a'), true);
  t.equal(schedule.willBeFull('b'), false, 'it has the additional thread');
  announced[0]?.();
  announced[1]?.();
  t.equal(schedule.willBeFull('a'), false);
  schedule.add(task('a'));
  t.equal(schedule.willBeFull('a'), true);
  await clock.forward(1_000);
  t.equal(schedule.willBeFull('a'), false, 'the origin is slow');
});
