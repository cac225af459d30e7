import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { picture } from '../../../demo/origin/pictures.ts';
import { encodeJxl } from '../../../pool/rendering/encode/jxl/encoder.ts';
import { more } from '../../extended.ts';
import { described, drawn, plain, rendered } from './drawn.ts';
import { animation, blue, near, noise, red } from './pictures.ts';
import { readable } from './readable.ts';
import { redAndBlueError, redOnBlue } from './red-on-blue.ts';

/** Each decoding takes half a second of CPU time. */
const skip = !more && 'npm run test:more';
const jxl = { formats: ['jxl'] } as const;
const landscape = await picture('landscape.jpg');

/** Returns RGBA pixels, and ignores the colours of transparent pixels. */
async function visible(encoded: Uint8Array): Promise<Buffer> {
  const data = await sharp(await readable(encoded))
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 0) data.fill(0, at, at + 4);
  return data;
}

t.test('renders photographs, greys and transparency like PNG', async (t) => {
  const transparent = await sharp(await picture('lantern.png'))
    .resize(120)
    .png()
    .toBuffer();
  for (const [name, source, options] of [
    ['a photograph', landscape, { width: 160 }],
    ['transparent greys', transparent, { grayscale: true }],
    ['greys', landscape, { width: 160, grayscale: true }],
    ['transparency', transparent, {}],
  ].slice(0, more ? 4 : 2) as [string, Uint8Array, object][]) {
    const png = await visible((await rendered(source, { ...options, formats: ['png'] })).body);
    const output = await rendered(source, { ...options, ...jxl, quality: 90 });
    t.equal(output.contentType, 'image/jxl');
    const pixels = await visible(output.body);
    let difference = 0;
    for (const [at, value] of pixels.entries()) difference += Math.abs(value - (png[at] ?? 0));
    t.equal(pixels.length, png.length, name);
    t.ok(difference / png.length < 4, `${name}: ${difference / png.length}`);
  }
});

t.test('keeps every visible pixel if lossless', async (t) => {
  const alpha = await noise(90, 120).extractChannel(0).png().toBuffer();
  const transparent = await noise(90, 120).joinChannel(alpha).png().toBuffer();
  const grey = await noise(90, 120).grayscale().png().toBuffer();
  for (const [name, source] of Object.entries({ transparent, ...(more && { grey }) })) {
    const { body } = await rendered(source, { ...jxl, lossless: true, quality: 10 });
    t.ok((await visible(body)).equals(await visible(source)), name);
  }
});

t.test('encodes a drawing losslessly if that takes fewer bytes', { skip }, async (t) => {
  const letters = await redOnBlue();
  const { body } = await rendered(letters, jxl);
  t.ok((await visible(body)).equals(await visible(letters)), 'exact');
  const lossy = await rendered(letters, { ...jxl, lossless: false });
  t.ok(body.byteLength <= lossy.body.byteLength);
  const error = await redAndBlueError(await readable(lossy.body));
  t.ok(error < 20, `${error} levels with loss`);
});

t.test('lowers the quality to meet a byte limit', async (t) => {
  const most = 5_000;
  const { body, warnings } = await rendered(landscape, { ...jxl, width: 320, maxBytes: most });
  t.ok(body.byteLength <= most && body.byteLength > 0.8 * most, String(body.byteLength));
  t.equal(warnings, undefined);
});

t.test('writes profiles, copyright and metadata', async (t) => {
  const source = await sharp(landscape)
    .resize(60)
    .withIccProfile('p3')
    .withExif({ IFD0: { Copyright: 'The owner' } })
    .jpeg()
    .toBuffer();
  const requestHeader = async (options: object) =>
    (await drawn(source, { ...jxl, ...options })).header();
  const all = await requestHeader({ keepProfile: true, stripMetadata: false });
  t.match(all.exif?.toString('latin1'), /The owner/);
  // The name that libjxl gives it is in UTF-16.
  const profile = all.icc?.toString('latin1').replaceAll('\0', '');
  t.match(profile, /RGB_D65_0\.67\d+;0\.31/, 'the red of Display P3');
  const facts = await rendered(source, { ...jxl, copyright: true, placeholder: 'json' });
  t.match(JSON.parse(Buffer.from(facts.body).toString()), { exif: { copyright: 'The owner' } });
  if (!more) return;
  const srgb = await requestHeader({});
  t.notSame(all.icc, srgb.icc, 'Display P3');
  t.equal(srgb.exif, undefined);
  t.match((await requestHeader({ copyright: true })).exif?.toString('latin1'), /The owner/);
});

t.test('writes all frames of an animation, or with `auto` another format', async (t) => {
  const source = await animation('gif', [red, blue], { width: 20, height: 20 });
  const { body } = await rendered(source, jxl);
  if (more) t.match(await described(body), { source: { format: 'jxl' } });
  const still = await rendered(source, { ...jxl, animated: false });
  t.ok(still.body.byteLength < body.byteLength);
  if (more) t.ok(near((await drawn(source, jxl)).at(3, 3), [...red, 255], 20), 'the first frame');
  const negotiated = { formats: ['jxl', 'webp'], negotiated: true } as const;
  t.not((await rendered(source, negotiated)).contentType, 'image/jxl');
});

t.test('fails a single image on an encoder fault', async (t) => {
  const bad = encodeJxl(
    { bytes: Buffer.from('no PNG'), form: { type: 'png', hasExif: false } },
    { quality: 80, effort: 4 },
    60,
  );
  await t.rejects(bad, { message: /encoder failed/ });
  const bytes = Buffer.alloc(3_000 * 1_000);
  const form = { type: 'pixels', width: 1_000, height: 1_000, channels: 3 } as const;
  const late = encodeJxl({ bytes, form }, { quality: null, effort: 9 }, 0.001);
  await t.rejects(late, { code: 'transform_timeout' });
  const { contentType } = await rendered(await plain(20, 20, red), jxl);
  t.equal(contentType, 'image/jxl');
});

t.test('writes files that another decoder reads', async (t) => {
  const folder = t.testdir({});
  const [file, png] = [join(folder, 'a.jxl'), join(folder, 'a.png')];
  const { body, width, height } = await rendered(landscape, { ...jxl, width: 200 });
  writeFileSync(file, body);
  const { error } = spawnSync('djxl', [file, png], { stdio: 'ignore' });
  if (error !== undefined) return t.pass('djxl', { skip: 'djxl is not installed' });
  t.match(await sharp(readFileSync(png)).metadata(), { width, height });
});
