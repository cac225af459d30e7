import sharp from 'sharp';
import t from 'tap';
import { openContainer } from '../../../pool/formats/container/container.ts';
import { IsolationRequired } from '../../../pool/formats/isolation.ts';
import { CostExceeded } from '../../../pool/rendering/cost.ts';
import { render } from '../../../pool/rendering/render.ts';
import type { Variant } from '../../../pool/variant.ts';
import { usedCpuMs } from '../../clock.ts';
import { pointer, shorts, tiffOf, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { openPool, patient } from '../execution/pools.ts';
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
} from '../rendering/pictures.ts';

const pool = openPool(t, { sourceMaxPixels: 1_000_000 });
const intact = await noise(300, 200).png().toBuffer();

t.test('a truncated source is corrupt', async (t) => {
  const sources: Record<string, Buffer> = {};
  for (const format of ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff'] as const) {
    sources[format] = await noise(300, 200).toFormat(format).toBuffer();
  }
  sources['progressive JPEG'] = await noise(300, 200).jpeg({ progressive: true }).toBuffer();
  sources['interlaced PNG'] = await noise(300, 200).png({ progressive: true }).toBuffer();
  for (const [name, bytes] of Object.entries(sources)) {
    for (const part of [0.1, 0.5, 0.95]) {
      const cut = shared(bytes.subarray(0, Math.floor(bytes.byteLength * part)));
      await t.rejects(
        pool.transform(cut, variant({ width: 100 }), patient),
        { code: 'source_corrupt' },
        `${name}, the first ${part}`,
      );
    }
  }
});

t.test('lenient decodes the beginning of a truncated source', async (t) => {
  const picture = await quarters(300, 200).png().toBuffer();
  const noisy = sharp(picture).composite([
    { input: await noise(300, 200).ensureAlpha(0.2).png().toBuffer() },
  ]);
  const sources = {
    jpeg: await noisy.clone().jpeg().toBuffer(),
    'progressive JPEG': await noisy.clone().jpeg({ progressive: true }).toBuffer(),
    png: await noisy.clone().png().toBuffer(),
    gif: await noisy.clone().gif().toBuffer(),
  };
  for (const [name, bytes] of Object.entries(sources)) {
    const cut = shared(bytes.subarray(0, Math.floor(bytes.byteLength * 0.6)));
    for (const more of [{}, { stripMetadata: false, trim: 5 }, { page: 0, blur: 1 }]) {
      const asked = variant({ width: 100, lenient: true, ...more });
      const made = await pool.transform(cut, asked, patient);
      t.same([made.width, made.height], [100, 67], name);
      const { at } = await pixels(made.body);
      t.ok(near(at(10, 10), red, 70) && near(at(90, 10), green, 70), `${name}: the upper part`);
    }
    const strict = variant({ width: 100 });
    await t.rejects(pool.transform(cut, strict, patient), { code: 'source_corrupt' }, name);
    // Encoded again, although the source is smaller.
    const own = variant({ lenient: true, formats: [], quality: 100, stripMetadata: false });
    const whole = await pool.transform(cut, own, patient);
    await t.resolves(sharp(whole.body, { failOn: 'warning' }).raw().toBuffer(), name);
    t.notOk(Buffer.from(cut).equals(whole.body));
  }
  for (const format of ['webp', 'avif', 'tiff'] as const) {
    const bytes = await noise(300, 200).toFormat(format).toBuffer();
    const cut = shared(bytes.subarray(0, Math.floor(bytes.byteLength / 2)));
    const asked = variant({ lenient: true });
    await t.rejects(pool.transform(cut, asked, patient), { code: 'source_corrupt' }, format);
  }
  const bomb = shared(claimingPng(50_000, 50_000, 100));
  await t.rejects(pool.transform(bomb, variant({ lenient: true }), patient), {
    code: 'source_too_large',
  });
});

t.test('broken pixels are corrupt', async (t) => {
  const broken = Buffer.from(intact);
  const middle = Math.floor(broken.byteLength / 2);
  broken.fill(0x55, middle, middle + 40);
  await t.rejects(pool.transform(shared(broken), variant(), patient), { code: 'source_corrupt' });
});

t.test('bytes after the picture are ignored', async (t) => {
  const longer = Buffer.concat([await noise(30, 20).jpeg().toBuffer(), Buffer.from('more')]);
  const made = await pool.transform(shared(longer), variant(), patient);
  t.same([made.width, made.height], [30, 20]);
});

t.test(
  'an animation of many small frames is costly, and encoded as GIF in a process',
  async (t) => {
    const frames = Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? red : blue));
    const source = shared(await animation('gif', frames, { width: 8, height: 8 }));
    const onThread = { sourceMaxPixels: 1e6, softTimeoutSeconds: 60, isolated: false };
    const drawn = (asked: Partial<Variant>, onlyLight: boolean) =>
      render(source, null, variant(asked), onThread, onlyLight);
    await t.rejects(drawn({ formats: ['gif'] }, true), CostExceeded);
    await t.rejects(drawn({ formats: ['gif'] }, false), IsolationRequired);
    t.equal((await drawn({ formats: ['webp'] }, true)).width, 8);
  },
);

t.test('an animation has at most 1,000 frames', async (t) => {
  const frames = Array.from({ length: 1_001 }, (_, index) => (index % 2 === 0 ? red : blue));
  const gif = (count: number) => animation('gif', frames.slice(0, count), { width: 4, height: 4 });
  const asked = variant({ formats: ['webp'] });
  t.equal((await pool.transform(shared(await gif(1_000)), asked, patient)).width, 4);
  await t.rejects(pool.transform(shared(await gif(1_001)), asked, patient), {
    code: 'source_too_large',
    message: /1001 frames; at most 1000/,
  });
});

t.test('samples other than colours and alpha are dropped', async (t) => {
  const samples = Buffer.alloc(8 * 8 * 5, 99);
  const colours = [shorts(258, 8, 8, 8, 8, 8), shorts(262, 2), pointer(273, samples)];
  const sizes = [shorts(277, 5), shorts(278, 8), shorts(279, samples.length), shorts(338, 0, 0)];
  const source = shared(tiffOf(tiffPicture([...colours, ...sizes])));
  for (const asked of [{}, { formats: ['webp'] }, { blur: 2, opacity: 0.5 }] as const) {
    const { body } = await pool.transform(source, variant(asked), patient);
    t.ok(near((await pixels(body)).at(4, 4), [99, 99, 99], 3), Object.keys(asked).join());
  }
  const hash = await pool.transform(source, variant({ placeholder: 'thumbhash' }), patient);
  t.ok(hash.body.length > 4);
});

t.test('garbage is unsupported, and corrupt behind a signature', async (t) => {
  const garbage = 'garbage'.repeat(30);
  const heic = `\0\0\0\x18ftypheic\0\0\0\0heicmif1${'\0'.repeat(200)}`;
  for (const [code, ...texts] of [
    ['source_unsupported', '', 'hello', '%PDF-1.7\n', '<html></html>', '\0'.repeat(1000), heic],
    ['source_corrupt', `\xff\xd8\xff\xe0${garbage}`, `\x89PNG\r\n\x1a\n${garbage}`],
    ['source_corrupt', `GIF89a${garbage}`, `RIFF\xff\0\0\0WEBPVP8 ${garbage}`, `II*\0${garbage}`],
    ['source_corrupt', `\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf${garbage}`],
  ]) {
    for (const text of texts) {
      const source = shared(Buffer.from(text, 'latin1'));
      await t.rejects(pool.transform(source, variant(), patient), { code }, text.slice(0, 20));
    }
  }
});

t.test('too many pixels are refused before they are decoded', async (t) => {
  const before = usedCpuMs();
  const bomb = shared(claimingPng(50_000, 50_000, 100));
  await t.rejects(pool.transform(bomb, variant(), patient), { code: 'source_too_large' });
  t.ok(usedCpuMs() - before < 5000, 'fast');
  const exact = shared(claimingPng(1000, 1000));
  await t.resolves(pool.transform(exact, variant({ width: 10 }), patient), 'the limit');
  const over = shared(claimingPng(1001, 1000));
  await t.rejects(pool.transform(over, variant({ width: 10 }), patient), {
    code: 'source_too_large',
  });
});

t.test('the frames of a WebP are counted before it is decoded', async (t) => {
  const { originals, many } = await manyFrames(40_000);
  t.equal(openContainer(originals).frames, 2);
  t.equal(openContainer(many).frames, 40_002);
  t.ok(openContainer(many.subarray(0, 2_000_000)).frames > 10_000, 'in a truncated file');
  const before = usedCpuMs();
  await t.rejects(pool.transform(shared(many), variant(), patient), {
    code: 'source_too_large',
    message: /40002 frames/,
  });
  const href = `data:image/webp;base64,${many.toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${href}" width="9" height="9"/></svg>`;
  await t.rejects(pool.transform(shared(svg), variant(), patient), { code: 'source_too_large' });
  t.ok(usedCpuMs() - before < 5_000, 'fast; libwebp takes 10 s');
});

/** An animation, and the same one with its last frame repeated. */
async function manyFrames(times: number) {
  const frames = { width: 2, height: 4, channels: 3, pageHeight: 2 } as const;
  const pixels = Buffer.alloc(2 * 4 * 3).fill(200, 0, 12);
  const originals = await sharp(pixels, { raw: frames }).webp({ lossless: true }).toBuffer();
  const frame = originals.subarray(originals.lastIndexOf('ANMF'));
  const many = Buffer.concat([originals, ...new Array<Buffer>(times).fill(frame)]);
  many.writeUInt32LE(many.length - 8, 4);
  return { originals, many };
}

t.test('the limit of pixels includes all frames, also for still outputs', async (t) => {
  const frames = Array.from({ length: 11 }, (_, index) => (index % 2 === 0 ? red : blue));
  const source = shared(await animation('gif', frames, { width: 400, height: 250 }));
  for (const format of ['webp', 'png'] as const) {
    const asked = variant({ width: 10, formats: [format] });
    await t.rejects(pool.transform(source, asked, patient), { code: 'source_too_large' }, format);
  }
});
