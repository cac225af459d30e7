import sharp from 'sharp';
import t from 'tap';
import { withJpegEnd } from '../../../pool/formats/jpeg/parts.ts';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import type { Variant } from '../../../pool/variant.ts';
import { usedCpuMs } from '../../clock.ts';
import { svg } from '../../hostile/inputs/svgs.ts';
import { createTiff, pointer, shorts, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { openPool, patient } from '../execution/pools.ts';
import { renderedIfLight } from '../rendering/drawn.ts';
import {
  animation,
  blue,
  claimingPng,
  green,
  near,
  noise,
  pixels,
  quarters,
  red,
  shared,
  variant,
  watermark,
} from '../rendering/pictures.ts';

const pool = openPool(t, { sourceMaxPixels: 1_000_000 });
const transformed = (source: Uint8Array | string, options: Partial<Variant> = {}) =>
  pool.transform(shared(source), variant(options), patient);
const corrupt = { code: 'source_corrupt' };
const tooLarge = { code: 'source_too_large' };
/** Returns the first part of a file. */
const truncated = (file: Buffer, part: number) => file.subarray(0, Math.floor(file.length * part));

t.test('rejects a truncated or broken source as corrupt', async (t) => {
  const sources: Record<string, Buffer> = {};
  for (const format of ['png', 'webp', 'avif', 'tiff'] as const) {
    sources[format] = await noise(300, 200).toFormat(format).toBuffer();
  }
  sources['interlaced PNG'] = await noise(300, 200).png({ progressive: true }).toBuffer();
  for (const [name, bytes] of Object.entries(sources)) {
    for (const part of [0.1, 0.5, 0.95]) {
      const cut = truncated(bytes, part);
      await t.rejects(transformed(cut, { width: 100 }), corrupt, `${name}, the first ${part}`);
    }
  }
  const broken = await noise(300, 200).png().toBuffer();
  const middle = broken.length >> 1;
  await t.rejects(transformed(broken.fill(0x55, middle, middle + 40)), corrupt, 'broken pixels');
});

t.test('decodes the intact part of a truncated source if lenient', async (t) => {
  const picture = await quarters(300, 200).png().toBuffer();
  const noisy = sharp(picture).composite([
    { input: await noise(300, 200).ensureAlpha(0.2).png().toBuffer() },
  ]);
  const sources = {
    jpeg: await noisy.clone().jpeg().toBuffer(),
    'progressive JPEG': await noisy.clone().jpeg({ progressive: true }).toBuffer(),
    png: await noisy.clone().png().toBuffer(),
    gif: await noisy.clone().gif().toBuffer(),
    webp: await noisy.clone().webp().toBuffer(),
  };
  for (const [name, bytes] of Object.entries(sources)) {
    const cut = truncated(bytes, 0.6);
    for (const more of [{}, { stripMetadata: false, trim: 5 }, { page: 0, blur: 1 }]) {
      const { width, height, body } = await transformed(cut, {
        width: 100,
        lenient: true,
        ...more,
      });
      t.same([width, height], [100, 67], name);
      const { at } = await pixels(body);
      t.ok(near(at(10, 10), red, 70) && near(at(90, 10), green, 70), `${name}: the upper part`);
    }
    const isEnded = name !== 'png' && name !== 'webp';
    if (!isEnded) await t.rejects(transformed(cut, { width: 100 }), corrupt, name);
    const own = { lenient: true, formats: [], quality: 100, stripMetadata: false } as const;
    const whole = await transformed(cut, own);
    await t.resolves(sharp(whole.body, { failOn: 'warning' }).raw().toBuffer(), name);
    t.notOk(cut.equals(whole.body), 'encoded again, although the source is smaller');
  }
  for (const format of ['avif', 'tiff'] as const) {
    const cut = truncated(await noise(300, 200).toFormat(format).toBuffer(), 0.5);
    await t.rejects(transformed(cut, { lenient: true }), corrupt, format);
  }
  await t.rejects(transformed(claimingPng(50_000, 50_000, 100), { lenient: true }), tooLarge);
});

t.test('decodes a JPEG or GIF that ends too early, with a warning', async (t) => {
  const incomplete = ['source_incomplete'];
  const sources = {
    jpeg: await noise(150, 100).jpeg().toBuffer(),
    'progressive JPEG': await noise(150, 100).jpeg({ progressive: true }).toBuffer(),
    'grey JPEG': await noise(150, 100).greyscale().jpeg().toBuffer(),
    gif: await noise(150, 100).gif().toBuffer(),
  };
  for (const [name, bytes] of Object.entries(sources)) {
    const whole = await transformed(bytes);
    t.equal(whole.warnings, undefined, name);
    t.equal((await transformed(Buffer.concat([bytes, Buffer.of(1, 2)]))).warnings, undefined);
    const { at: expected } = await pixels(whole.body);
    for (const missing of [1, 2, 3, 16, bytes.length >> 1]) {
      const cut = bytes.subarray(0, -missing);
      const { body, width, warnings } = await transformed(cut);
      t.same([width, warnings], [150, incomplete], `${name} without ${missing} bytes`);
      if (missing > 16) continue;
      t.same((await pixels(body)).at(75, 50), expected(75, 50), `${name} without ${missing} bytes`);
      const own = await transformed(cut, { formats: [], quality: 100 });
      t.notOk(cut.equals(own.body), 'encoded again');
    }
  }
  const { jpeg, gif } = sources;
  const half = await pixels((await transformed(truncated(jpeg, 0.5))).body);
  t.ok(near(half.at(75, 95), [128, 128, 128], 3), 'missing pixels of a JPEG are grey');
  const { at } = await pixels((await transformed(truncated(gif, 0.5))).body);
  t.same(at(75, 95), [0, 0, 0, 255], 'missing pixels of an opaque GIF are black');
  const headers = jpeg.indexOf(Buffer.of(0xff, 0xda));
  for (let end = headers - 9; end < headers + 4; end += 1) {
    await t.rejects(transformed(jpeg.subarray(0, end)), corrupt, `the first ${end} bytes`);
  }
  for (const end of [6, 13, 100, 800]) {
    await t.rejects(transformed(gif.subarray(0, end)), corrupt, `the first ${end} bytes`);
  }
  const missing = Buffer.concat([gif.subarray(0, -400), gif.subarray(-200)]);
  await t.rejects(transformed(missing), corrupt, 'missing data before the end');
  const moving = await animation('gif', [red, green, blue], { width: 20, height: 20 });
  const { body } = await transformed(moving.subarray(0, -2), { formats: ['webp'] });
  t.equal((await sharp(body).metadata()).pages, 3, 'all frames of an animation');
  const layered = variant({ layers: watermark() });
  const layers = [shared(jpeg.subarray(0, -9))];
  const base = shared(await noise(30, 20).png().toBuffer());
  const { warnings } = await pool.transform(base, layered, { ...patient, layers });
  t.same(warnings, incomplete, 'a layer');
});

t.test('decodes every part of a JPEG that has a scan header, with a warning', async (t) => {
  const picture = noise(8, 8);
  const cmyk = picture.clone().toColourspace('cmyk');
  const sources = {
    baseline: await picture.clone().jpeg().toBuffer(),
    progressive: await picture.clone().jpeg({ progressive: true }).toBuffer(),
    grey: await picture.clone().greyscale().jpeg({ progressive: true }).toBuffer(),
    CMYK: await cmyk.jpeg({ progressive: true }).toBuffer(),
  };
  for (const [name, bytes] of Object.entries(sources)) {
    const scan = bytes.indexOf(Buffer.of(0xff, 0xda));
    const headers = scan + 2 + bytes.readUInt16BE(scan + 2);
    const wrong: unknown[] = [];
    for (let end = 4; end < bytes.length; end += 1) {
      const cut = bytes.subarray(0, end);
      const ended = withJpegEnd(cut);
      if ((ended !== cut) !== end >= headers) wrong.push(end);
      if (ended === cut) continue;
      // Without this colour space, each conversion from CMYK takes 0.1 s.
      const decoder = sharp(ended, { failOn: 'none' }).pipelineColourspace('cmyk');
      const decoded = decoder.toColourspace('cmyk').raw().toBuffer();
      await decoded.catch((error: unknown) => wrong.push(`${end}: ${error}`));
    }
    t.same(wrong, [], `${name}, ${bytes.length - headers} cuts`);
  }
  // The cut is in the tables between two scans.
  const { progressive } = sources;
  const tables = progressive.lastIndexOf(Buffer.of(0xff, 0xc4));
  const { warnings } = await transformed(progressive.subarray(0, tables + 9));
  t.same(warnings, ['source_incomplete']);
});

t.test('decodes a JPEG with many faults if lenient', async (t) => {
  const jpeg = await quarters(30, 20).jpeg({ progressive: true }).toBuffer();
  const scan = jpeg.lastIndexOf(Buffer.from([0xff, 0xda]));
  const faults = new Array<Buffer>(1_500).fill(Buffer.from([0x55, 0xff, 0xfe, 0, 2]));
  const source = Buffer.concat([jpeg.subarray(0, scan), ...faults, jpeg.subarray(scan)]);
  await t.rejects(transformed(source), corrupt);
  const { at } = await pixels((await transformed(source, { lenient: true })).body);
  t.ok(near(at(5, 5), red, 20));
});

t.test('repairs the size in a WebP header', async (t) => {
  const still = await noise(31, 20).webp({ lossless: true }).toBuffer();
  const moving = await animation('webp', [red, green], { width: 20, height: 20 });
  for (const [name, webp] of Object.entries({ still, moving })) {
    const expected = (await transformed(webp, { formats: ['webp'], lossless: true })).body;
    for (const difference of [-100, -2, -1, 1, 2, 100]) {
      const wrong = Buffer.from(webp);
      wrong.writeUInt32LE(wrong.readUInt32LE(4) + difference, 4);
      const { body } = await transformed(wrong, { formats: ['webp'], lossless: true });
      t.ok(Buffer.from(body).equals(Buffer.from(expected)), `${name}, by ${difference}`);
    }
    const followed = Buffer.concat([webp, Buffer.from('more bytes')]);
    t.equal((await transformed(followed)).width, name === 'still' ? 31 : 20, 'more bytes');
    await t.rejects(transformed(truncated(webp, 0.6)), corrupt, 'truncated');
  }
});

t.test('ignores bytes after the image', async (t) => {
  const longer = Buffer.concat([await noise(30, 20).jpeg().toBuffer(), Buffer.from('more')]);
  t.match(await transformed(longer), { width: 30, height: 20 });
});

/** Returns an animated GIF of alternating red and blue frames. */
const blinking = (frames: number, width: number, height: number) =>
  animation(
    'gif',
    Array.from({ length: frames }, (_, index) => (index % 2 === 0 ? red : blue)),
    { width, height },
  );

t.test('treats many small frames as costly, and encodes them as GIF in a process', async (t) => {
  const source = await blinking(400, 8, 8);
  const costly = { isolated: true, cost: { ms: Number } };
  t.match(await renderedIfLight(source, { formats: ['gif'] }), costly);
  t.match(await renderedIfLight(source, { formats: ['webp'] }), { width: 8 });
});

t.test('limits an animation to 1,000 frames', async (t) => {
  const formats = ['webp'] as const;
  t.equal((await transformed(await blinking(1_000, 4, 4), { formats })).width, 4);
  const message = /1001 frames; at most 1000/;
  await t.rejects(transformed(await blinking(1_001, 4, 4), { formats }), { ...tooLarge, message });
});

t.test('drops samples other than colours and alpha', async (t) => {
  const samples = Buffer.alloc(8 * 8 * 5, 99);
  const colours = [shorts(258, 8, 8, 8, 8, 8), shorts(262, 2), pointer(273, samples)];
  const sizes = [shorts(277, 5), shorts(278, 8), shorts(279, samples.length), shorts(338, 0, 0)];
  const source = createTiff(tiffPicture([...colours, ...sizes]));
  for (const options of [{}, { formats: ['webp'] }, { blur: 2, opacity: 0.5 }] as const) {
    const { body } = await transformed(source, options);
    t.ok(near((await pixels(body)).at(4, 4), [99, 99, 99], 3), Object.keys(options).join());
  }
  t.ok((await transformed(source, { placeholder: 'thumbhash' })).body.length > 4);
});

t.test('rejects garbage as unsupported, and as corrupt after a signature', async (t) => {
  const garbage = 'garbage'.repeat(30);
  const heic = `\0\0\0\x18ftypheic\0\0\0\0heicmif1${'\0'.repeat(200)}`;
  for (const [code, ...texts] of [
    ['source_unsupported', '', 'hello', '<html></html>', '\0'.repeat(1000)],
    ['source_corrupt', `\xff\xd8\xff\xe0${garbage}`, `\x89PNG\r\n\x1a\n${garbage}`],
    ['source_corrupt', `GIF89a${garbage}`, `RIFF\xff\0\0\0WEBPVP8 ${garbage}`, `II*\0${garbage}`],
    ['source_corrupt', `\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf${garbage}`, heic, '%PDF-1.7\n'],
  ]) {
    for (const text of texts) {
      await t.rejects(transformed(Buffer.from(text, 'latin1')), { code }, text.slice(0, 20));
    }
  }
});

t.test('rejects too many pixels before it decodes them', async (t) => {
  const before = usedCpuMs();
  await t.rejects(transformed(claimingPng(50_000, 50_000, 100)), tooLarge);
  t.ok(usedCpuMs() - before < 5000, 'fast');
  await t.resolves(transformed(claimingPng(1000, 1000), { width: 10 }), 'the limit');
  await t.rejects(transformed(claimingPng(1001, 1000), { width: 10 }), tooLarge);
  const animated = await blinking(11, 400, 250);
  for (const format of ['webp', 'png'] as const) {
    const options = { width: 10, formats: [format] };
    await t.rejects(transformed(animated, options), tooLarge, `all frames count, ${format}`);
  }
});

t.test('counts the frames of a WebP before it decodes them', async (t) => {
  const { originals, many } = await manyFrames(40_000);
  t.equal(openContainer(originals).frames, 2);
  t.equal(openContainer(many).frames, 40_002);
  t.ok(openContainer(many.subarray(0, 2_000_000)).frames > 10_000, 'in a truncated file');
  const before = usedCpuMs();
  await t.rejects(transformed(many), { ...tooLarge, message: /40002 frames/ });
  const href = `data:image/webp;base64,${many.toString('base64')}`;
  await t.rejects(transformed(svg(`<image href="${href}"/>`, 'width="9" height="9"')), tooLarge);
  t.ok(usedCpuMs() - before < 5_000, 'fast; libwebp takes 10 s');
});

/** Returns an animation, and the same animation with its last frame repeated. */
async function manyFrames(times: number) {
  const frames = { width: 2, height: 4, channels: 3, pageHeight: 2 } as const;
  const pixels = Buffer.alloc(2 * 4 * 3).fill(200, 0, 12);
  const originals = await sharp(pixels, { raw: frames }).webp({ lossless: true }).toBuffer();
  const frame = originals.subarray(originals.lastIndexOf('ANMF'));
  const many = Buffer.concat([originals, ...new Array<Buffer>(times).fill(frame)]);
  many.writeUInt32LE(many.length - 8, 4);
  return { originals, many };
}
