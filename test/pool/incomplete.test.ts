import t from 'tap';
import { imageInputs } from '../../pool/inputs.ts';
import { until } from '../until.ts';
import { openEngine } from './engine.ts';
import { noise, variant } from './rendering/pictures.ts';
import { imageRequest } from './requests.ts';
import { startOrigin } from './source/origin.ts';

t.test('fetches a source that ended too early again after a minute', async (t) => {
  const whole = await noise(60, 40).jpeg().toBuffer();
  let body = whole.subarray(0, -100);
  const origin = await startOrigin(t, (_, response) => void response.end(body));
  let now = 1_000_000_000;
  const stores: number[] = [];
  const disk = { stored: () => stores.push(0), read() {}, removed() {}, failed() {} };
  const dataDir = t.testdir();
  // The sources' cache follows another clock.
  const start = (memoryCacheBytes: number) =>
    openEngine(
      t,
      { memoryCacheBytes, diskCacheBytes: 1e8, dataDir, sourceCacheBytes: 0 },
      { now: () => now, disk },
    );
  const [first, other] = [start(1e7), start(0)];
  const get = async (engine = first) => {
    const inputs = imageInputs(origin.url('/cut.jpg'), null, variant(), () => true);
    const request = imageRequest({ inputs, variant: variant({ width: 30 }) });
    const { tier, image } = await engine.get(request, new AbortController().signal);
    return [tier, image.warnings?.join()];
  };
  t.same(await get(), ['miss', 'source_incomplete']);
  await until('the write', () => stores.length === 1);
  body = whole;
  now += 59_000;
  t.same(await get(), ['memory', 'source_incomplete']);
  t.same(await get(other), ['disk', 'source_incomplete']);
  now += 2_000;
  t.same(await get(), ['miss', undefined]);
  await until('the second write', () => stores.length === 2);
  now += 1e9;
  t.same(await get(), ['memory', undefined]);
  t.same(await get(other), ['disk', undefined]);
});
