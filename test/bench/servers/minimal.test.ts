import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { hasMinimal, startMinimal } from '../../../bench/servers/minimal.ts';
import { encodedFormats, encoderOptions } from '../../../bench/servers/server.ts';
import { startSampleOrigin } from '../../../demo/origin/origin.ts';
import { picture } from '../../../demo/origin/pictures.ts';
import { avifThreads } from '../../../pool/execution/encoder-threads.ts';
import { temporaryFolder } from '../../temporary-root.ts';
import { until } from '../../until.ts';

const skip = hasMinimal ? false : 'uWebSockets.js does not load';

t.test('starts the minimal server', { skip }, async (t) => {
  const origin = await startSampleOrigin();
  t.teardown(() => origin.close());
  const folder = await temporaryFolder(t);
  const { TMPDIR: before } = process.env;
  process.env['TMPDIR'] = folder;
  const pixels = 200 * 163;
  const server = await startMinimal(2);
  t.teardown(() => server.close());
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  const written = async () => {
    const [own = ''] = await readdir(folder);
    const files = (await readdir(join(folder, own))).map((name) => join(folder, own, name));
    return Promise.all(files.map((file) => readFile(file)));
  };
  const toUrl = (source: string, format: (typeof encodedFormats)[number]) =>
    server
      .imageUrl({
        source: `${origin.url}/${source}?n={n}&m=1`,
        width: 200,
        format,
        pixels,
        quality: 80,
      })
      .replace('{n}', '1');

  await t.test("encodes with the service's settings, and adds an entity tag", async (t) => {
    for (const format of encodedFormats) {
      const response = await fetch(toUrl('landscape.jpg', format));
      t.equal(response.status, 200);
      t.equal(response.headers.get('content-type'), `image/${format}`);
      const body = Buffer.from(await response.arrayBuffer());
      const image = sharp(await picture('landscape.jpg'), { autoOrient: true }).resize(200);
      sharp.concurrency(format === 'avif' ? avifThreads : 1);
      const expected = await image.toFormat(format, encoderOptions(format, 80, pixels)).toBuffer();
      t.ok(body.equals(expected), format);
      const digest = createHash('sha256').update(body).digest('hex');
      t.equal(response.headers.get('etag'), `"${digest}"`);
      await until('a file', async () => (await written()).some((file) => file.equals(body)));
    }
  });

  await t.test('writes a file per image', async () => {
    const { length } = await written();
    const url = toUrl('landscape.jpg', 'jpeg');
    await Promise.all([2, 3].map((n) => fetch(url.replace('n%3D1', `n%3D${n}`))));
    await until('two files', async () => (await written()).length === length + 2);
  });

  await t.test('turns images upright, and continues after a failure', async (t) => {
    t.equal((await fetch(server.url)).status, 500);
    t.equal((await fetch(toUrl('emblem.svg', 'jpeg').replace('emblem', 'none'))).status, 500);
    const response = await fetch(toUrl('portrait-rotated.jpg', 'webp'));
    const facts = await sharp(await response.arrayBuffer()).metadata();
    t.ok(facts.height > facts.width, `${facts.width} x ${facts.height}`);
  });
});
