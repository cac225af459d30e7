import { existsSync } from 'node:fs';
import t from 'tap';
import { cacheFilePath, diskCacheFolder } from '../../pool/cache/disk.ts';
import { imageInputs } from '../../pool/inputs.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { openEngine } from './engine.ts';
import { noise, variant } from './rendering/pictures.ts';
import { imageRequest } from './requests.ts';
import { startOrigin } from './source/origin.ts';

t.test('counts the file of an image whose request ends during its render', async (t) => {
  const picture = await noise(2_400, 1_600).jpeg().toBuffer();
  const origin = await startOrigin(t, (_, response) => response.end(picture));
  const dataDir = await temporaryFolder(t);
  const stored: string[] = [];
  const disk = { stored: (key: string) => stored.push(key), read() {}, removed() {}, failed() {} };
  const engine = openEngine(t, { dataDir, diskCacheBytes: 1e9 }, { disk });
  const key = '1'.padStart(64, '0');
  const request = imageRequest({
    key,
    inputs: imageInputs(origin.url('/a.jpg'), null, variant(), () => true),
    variant: variant({ width: 1_500, formats: ['webp'] }),
  });
  const ending = new AbortController();
  const image = engine.get(request, ending.signal);
  await until('it renders', () => engine.stats().transforms.active === 1);
  ending.abort(new Error('the client is gone'));
  await t.rejects(image, { message: 'the client is gone' });
  await until('the render ends', () => engine.stats().transforms.completed === 1);
  const file = cacheFilePath(diskCacheFolder({ dataDir }), key);
  t.same([existsSync(file), stored], [true, [key]]);
});
