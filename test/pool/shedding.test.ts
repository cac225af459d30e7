import t, { type Test } from 'tap';
import { parseS3Location } from '../../contract/s3-location.ts';
import type { SharedCacheSettings } from '../../pool/cache/shared-cache.ts';
import { type Coalescer, onlyProcess } from '../../pool/coalescer.ts';
import { Schedule } from '../../pool/execution/schedule.ts';
import { imageInputs } from '../../pool/inputs.ts';
import type { Variant } from '../../pool/variant.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { openEngine } from './engine.ts';
import { noise, variant } from './rendering/pictures.ts';
import { imageRequest } from './requests.ts';
import { startTestS3, variables } from './s3/server.ts';
import { startOrigin } from './source/origin.ts';

const toKey = (name: string) => name.padStart(64, '0');

/**
 * Starts an engine with one thread and a separate disk cache, and records the keys that it joins.
 */
async function startEngine(
  t: Test,
  poolQueue: number,
  url: (path: string) => URL,
  sharedCache: Partial<SharedCacheSettings> = {},
) {
  const joined: string[] = [];
  const inBackground: string[] = [];
  const coalescer: Coalescer = {
    join: (key, participant) => {
      joined.push(key);
      if (!participant.live) inBackground.push(key);
      return onlyProcess.join(key, participant);
    },
  };
  const dataDir = await temporaryFolder(t);
  const settings = { poolQueue, dataDir, diskCacheBytes: 1e9, ...sharedCache };
  const engine = openEngine(t, settings, { coalescer });
  const createRequest = (name: string, path: string, more: Partial<Variant> = {}, project = 'a') =>
    imageRequest({
      key: toKey(name),
      project,
      inputs: imageInputs(url(path), null, variant(), () => true),
      variant: variant({ width: 20, ...more }),
    });
  const { signal } = new AbortController();
  const get = (...request: Parameters<typeof createRequest>) =>
    engine.get(createRequest(...request), signal);
  return { engine, createRequest, get, joined, inBackground, signal };
}

/** A transform that takes seconds. */
const long = { width: null, formats: ['avif'], lossless: true } as const;

t.test('rejects misses before coalescing and fetching while the queue is full', async (t) => {
  const picture = await noise(1600, 1200).jpeg().toBuffer();
  const origin = await startOrigin(t, (_, response) => response.end(picture));
  const { engine, get, joined } = await startEngine(t, 0, origin.url);

  await get('1', '/1');
  await until('it is on the disk', async () => (await get('1', '/1')).tier === 'disk');
  const before = [...joined];
  const busy = get('2', '/2', long);
  await until('it runs', () => engine.stats().transforms.costlyBytes > 0);
  const requests = origin.requests.length;
  const refusals = engine.stats().refused;
  await t.rejects(get('3', '/3'), { code: 'overloaded' });
  t.same(joined, [...before, toKey('2')]);
  t.equal(origin.requests.length, requests);
  t.equal(engine.stats().refused, refusals + 1);
  t.equal((await get('1', '/1')).tier, 'disk');
  t.equal((await get('4', '/4', {}, 'b')).tier, 'miss', 'another project has a place');
  t.equal((await busy).tier, 'miss');
});

t.test('treats renders after responses as background work, and limits them', async (t) => {
  const picture = await noise(80, 60).jpeg().toBuffer();
  const origin = await startOrigin(t, (request, response) => {
    if (request.url !== '/silent') response.end(picture);
  });
  const started = await startEngine(t, 9, origin.url);
  const { engine, createRequest, get, joined, inBackground, signal } = started;

  const provisional = { key: toKey('webp'), variant: variant({ width: 20, formats: ['webp'] }) };
  const request = { ...createRequest('avif', '/1', { formats: ['avif'] }), provisional };
  const first = await engine.get(request, signal);
  t.match([first.isProvisional, first.image.contentType], [true, 'image/webp']);
  t.same([joined, inBackground], [[toKey('webp')], []]);
  await engine.renderInBackground(request);
  t.same(inBackground, [toKey('avif')]);
  const second = await engine.get(request, signal);
  t.match(second, { tier: 'disk', image: { contentType: 'image/avif' } });
  t.equal(second.isProvisional, undefined);
  t.equal((await get('avif', '/1')).tier, 'disk');

  const before = joined.length;
  const names = Array.from({ length: 40 }, (_, index) => `silent ${index}`);
  const later = names.map((name) => engine.renderInBackground(createRequest(name, '/silent')));
  await until('those of a project are in progress', () => joined.length - before === 24);
  await Promise.all(later.slice(24));
  t.equal(joined.length - before, 24, 'three quarters of 32');
  await engine.close();
  t.same(await Promise.all(later), Array(40).fill(undefined), 'the end of the engine is no error');
});

t.test('delivers shared-cache images while the queue is full', async (t) => {
  Object.assign(process.env, variables);
  const bucket = await startTestS3(t);
  const settings = { sharedCacheUrl: parseS3Location(bucket.url), sharedCacheTimeoutMs: 60_000 };
  const picture = await noise(800, 600).jpeg().toBuffer();
  const origin = await startOrigin(t, (_, response) => response.end(picture));
  const other = await startEngine(t, 0, origin.url, settings);
  await other.get('1', '/1');
  await until('it is stored', () => bucket.objects.size === 1);
  const { engine, get } = await startEngine(t, 0, origin.url, settings);
  const busy = get('2', '/2', long);
  await until('it runs', () => engine.stats().transforms.costlyBytes > 0);
  const requests = origin.requests.length;
  t.equal((await get('1', '/1')).tier, 'shared');
  await t.rejects(get('3', '/3'), { code: 'overloaded' });
  t.equal(origin.requests.length, requests);
  t.equal((await busy).tier, 'miss');
});

t.test('gives each fetch of a live request a queue slot', async (t) => {
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
  for (const render of [busy, ...waiting, coming]) t.equal((await render).tier, 'miss');
  t.equal((await get('6', '/6')).tier, 'miss');
});

t.test('counts reservations while more than half of the queue is in use', async (t) => {
  const task = (project: string) => ({ project, queuedAt: 0, background: false, execution: null });
  const schedule = new Schedule({ poolThreads: 1, poolQueue: 4, poolMemoryBytes: 1e9 });
  const reservations = Array.from({ length: 3 }, () => schedule.reserve('a'));
  schedule.add(task('a'));
  schedule.start();
  for (let waiting = 0; waiting < 2; waiting += 1) schedule.add(task('a'));
  t.equal(schedule.willBeFull('a'), false, 'half of the queue');
  schedule.add(task('a'));
  t.equal(schedule.willBeFull('a'), true);
  t.equal(schedule.willBeFull('b'), false, "other projects' reservations do not count");
  for (const leave of reservations) leave();
  t.equal(schedule.willBeFull('a'), false);
});
