import { createHash } from 'node:crypto';
import { transferableSymbol, valueSymbol } from 'piscina';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { ssim, toReference } from '../../../bench/meter.ts';
import { picture } from '../../../demo/origin/pictures.ts';
import transform from '../../../pool/execution/thread.ts';
import { encodings, rasterFormats } from '../../../pool/rendering/encode/encodings.ts';
import { classifyPixels } from '../../../pool/rendering/encode/pixel-traits.ts';

import { openPool, patient } from '../execution/pools.ts';
import { recognised } from '../formats/named.ts';
import { limits, rendered } from './drawn.ts';
import { blue, green, noise, type Rgb, red, shared, variant, yellow } from './pictures.ts';
import { readable } from './readable.ts';
import { redAndBlueError, redOnBlue } from './red-on-blue.ts';

const pool = openPool(t);
const source = shared(await noise(300, 200).jpeg().toBuffer());

for (const format of rasterFormats) {
  t.test(`returns type, size, entity tag and times (${format})`, async (t) => {
    const options = variant({ width: 90, formats: [format] });
    const [image, other] = await Promise.all([
      pool.transform(source, options, patient),
      pool.transform(source, options, patient),
    ]);
    t.match(image, { contentType: `image/${format}`, width: 90, height: 60 });
    t.equal(`image/${recognised(image.body)}`, image.contentType, 'of the bytes');
    t.match(await sharp(await readable(image.body)).metadata(), { width: 90, height: 60 });
    const hash = createHash('sha256').update(image.body).digest('base64url').slice(0, 22);
    t.equal(image.etag, `"${hash}"`, 'a strong entity tag');
    t.equal(other.etag, image.etag, 'the same bytes for the same variant');
    t.ok(image.transformMs > 0 && image.queueMs >= 0);
  });
}

t.test('returns a body in a separate ArrayBuffer', async (t) => {
  for (const width of [1, 300]) {
    const { body } = await pool.transform(source, variant({ width }), patient);
    t.ok(body instanceof Uint8Array);
    t.equal(body.byteOffset, 0);
    t.equal(body.buffer.byteLength, body.byteLength);
  }
});

t.test('transfers the body from a thread', async (t) => {
  const sent = await transform({
    source,
    layers: [],
    variant: variant({ width: 50 }),
    limits,
    execution: null,
  });
  t.match(sent, { [valueSymbol]: { ok: true, body: Uint8Array } });
  if (typeof sent !== 'object' || sent === null || !(transferableSymbol in sent)) {
    return t.fail('nothing is transferred');
  }
  t.equal(sent[transferableSymbol], Reflect.get(Reflect.get(sent, valueSymbol), 'body').buffer);
});

t.test('accepts a source that is part of a larger buffer', async (t) => {
  const large = new Uint8Array(new SharedArrayBuffer(source.byteLength + 20)).fill(1);
  large.set(source, 10);
  const part = large.subarray(10, 10 + source.byteLength);
  const options = variant({ width: 20 });
  const output = await pool.transform(part, options, patient);
  t.equal(output.etag, (await pool.transform(source, options, patient)).etag);
});

/** Returns an image from a function that gives each pixel's colour. */
function patterned(colourAt: (x: number, y: number) => Rgb, side = 120) {
  const data = Buffer.alloc(side * side * 3);
  for (let pixel = 0; pixel < side * side; pixel += 1) {
    data.set(colourAt(pixel % side, Math.floor(pixel / side)), 3 * pixel);
  }
  return sharp(data, { raw: { width: side, height: side, channels: 3 } });
}

/** Images of few colours and no flat area. */
const patterns = {
  checkers: patterned((x, y) => ((x + y) % 2 === 0 ? red : blue)),
  grid: patterned((x, y) => (x % 2 === 0 || y % 2 === 0 ? blue : yellow)),
  stripes: patterned((x) => [red, green, blue][x % 3] ?? red),
  // Use the thresholds of a 4 × 4 matrix, like a printer.
  dithered: patterned((x, y) =>
    (x * 7 + y * 5 + ((x * y) >> 1)) % 16 < (x + y) / 15 ? [0, 0, 0] : [255, 255, 255],
  ),
  scattered: patterned(
    (x, y) => [red, green, blue, yellow][((x * x * 7 + y * y * 13) % 11) & 3] ?? red,
  ),
};

t.test('encodes an image of few colours losslessly if that takes few bytes', async (t) => {
  const pictures = { letters: sharp(await redOnBlue()), ...patterns };
  for (const [name, picture] of Object.entries(pictures)) {
    const source = shared(await picture.clone().png().toBuffer());
    const expected = await picture.clone().raw().toBuffer();
    for (const [format, options] of [
      ['webp', variant({ formats: ['avif', 'webp'], negotiated: true })],
      ['webp', variant({ formats: ['webp'] })],
      ['png', variant({ formats: ['jpeg'], negotiated: true })],
      ['png', variant({ formats: [], negotiated: true })],
    ] as const) {
      const label = `${name} as ${format}`;
      const { contentType, body } = await pool.transform(source, options, patient);
      t.equal(contentType, `image/${format}`, name);
      const pixels = await sharp(body).toColourspace('srgb').removeAlpha().raw().toBuffer();
      t.ok(pixels.equals(expected), `${label}: exact`);
      const lossy = await pool.transform(source, { ...options, lossless: false }, patient);
      const bytes = [body.byteLength, lossy.body.byteLength] as const;
      t.ok(bytes[0] <= bytes[1], `${label}: ${bytes}`);
    }
  }
});

t.test('renders a scaled drawing as WebP with no visible loss, smaller than as JPEG', async (t) => {
  const letters = await largeLetters();
  const { body: png } = await rendered(letters, { width: 500 });
  const expected = await sharp(png).removeAlpha().raw().toBuffer();
  for (const quality of [80, 'auto'] as const) {
    const options = variant({ formats: ['webp'], width: 500, quality });
    const { body } = await pool.transform(shared(letters), options, patient);
    const most = greatestError(expected, await sharp(body).raw().toBuffer());
    t.ok(most <= 4, `q=${quality}: ${most} levels`);
    const jpeg = await pool.transform(shared(letters), { ...options, formats: ['jpeg'] }, patient);
    t.ok(body.byteLength < jpeg.body.byteLength, `${body.byteLength} bytes`);
  }
});

t.test(
  'classifies a dense screenshot with repeated parts as a drawing, although it is not flat',
  async (t) => {
    // Combine 12 tiles of 8 × 8 pixels, each with up to 64 colours.
    const side = 320;
    const screen = patterned((x, y) => {
      const tile = ((x >> 3) * 7 + (y >> 3) * (y >> 3) * 5) % 12;
      const seed = (tile * 64 + (x & 7) * 8 + (y & 7)) * 2_654_435_761;
      return [(seed >> 8) & 255, (seed >> 16) & 255, (seed >> 24) & 255];
    }, side);
    const expected = await screen.clone().raw().toBuffer();
    const source = shared(await screen.png().toBuffer());
    const options = variant({ formats: ['webp'], quality: 'auto' });
    const { body } = await pool.transform(source, options, patient);
    t.ok(greatestError(expected, await sharp(body).raw().toBuffer()) <= 4);
    const lossy = await pool.transform(source, { ...options, lossless: false }, patient);
    t.ok(body.byteLength < lossy.body.byteLength / 4, `${body.byteLength} bytes`);
  },
);

t.test('chooses lossy or lossless WebP by the pixels', async (t) => {
  const letters = await largeLetters();
  const gradient = await patterned((x, y) => [x >> 2, y >> 2, 60], 480)
    .png()
    .toBuffer();
  const photograph = await noise(480, 480).blur(2).png().toBuffer();
  for (const [name, png] of Object.entries({ letters, gradient, photograph })) {
    const runs = await countRuns(() => rendered(png, { formats: ['webp'], width: 500 }));
    t.equal(runs, 2, `${name}: one run scales and one encodes`);
  }
});

/** Returns a flat image with 8-pixel strokes. */
const largeLetters = async () =>
  sharp(await redOnBlue())
    .resize(1_200, null, { kernel: 'nearest' })
    .png()
    .toBuffer();

/**
 * Counts sharp's runs during some work. Each run changes the queue twice; the last change can come
 * later.
 */
async function countRuns(work: () => Promise<unknown>): Promise<number> {
  let changes = 0;
  const count = () => {
    changes += 1;
  };
  sharp.queue.on('change', count);
  await work();
  sharp.queue.off('change', count);
  return Math.ceil(changes / 2);
}

t.test('does not treat colours of nearly transparent pixels as saturated edges', async (t) => {
  const channels = 4;
  const size = { width: 200, height: 200 };
  for (const [alpha, isSharp] of [
    [8, false],
    [255, true],
  ] as const) {
    const data = new Uint8Array(size.width * size.height * channels);
    for (let at = 0; at < data.length; at += channels) {
      data.set([...(((at >> 2) * 7919) % 13 < 6 ? red : blue), alpha], at);
    }
    t.equal(classifyPixels({ data, ...size, channels }).sharpChroma, isSharp, `alpha ${alpha}`);
  }
});

/** Returns the largest difference between two images, in levels. */
function greatestError(expected: Buffer, found: Buffer): number {
  let most = 0;
  for (const [at, value] of expected.entries()) {
    most = Math.max(most, Math.abs(value - (found[at] ?? 0)));
  }
  return most;
}

t.test('keeps the colours of saturated edges', async (t) => {
  const letters = await redOnBlue();
  // Half chroma resolution causes errors of 48, 46 and 31. AVIF's error is 1.0 if its setting is
  // missing. WebP supports no other resolution, but can weigh it.
  for (const [format, most] of [
    ['jpeg', 8],
    ['webp', 40],
    ['avif', 0.8],
  ] as const) {
    const { body } = await rendered(letters, { formats: [format], lossless: false });
    const error = await redAndBlueError(body);
    t.ok(error < most, `${format}: ${error.toFixed(1)}`);
  }
});

t.test('keeps the chroma of edges at even positions', async (t) => {
  const squares = patterned((x, y) => (((x >> 1) + (y >> 1)) % 2 === 0 ? red : blue));
  const source = shared(await squares.png().toBuffer());
  const { body } = await pool.transform(source, variant({ formats: ['jpeg'] }), patient);
  t.equal((await sharp(body).metadata()).chromaSubsampling, '4:4:4');
  const pixels = await sharp(body).raw().toBuffer();
  const magenta = [...pixels.keys()].filter(
    (at) => at % 3 === 0 && (pixels[at] ?? 0) > 80 && (pixels[at + 2] ?? 0) > 80,
  );
  t.same(magenta, []);
});

t.test('keeps the colour of red letters on a photograph at any scale', async (t) => {
  const side = 800;
  // Draw 16-pixel strokes, and grain that differs per channel.
  const grain = (x: number, y: number, seed: number) =>
    ((x * 7919 + y * 104_729 + seed) ** 2 % 97) - 48;
  const isInk = (x: number, y: number) =>
    y % 96 < 80 && (x % 80 < 16 || (x % 80 < 48 && y % 32 < 16));
  const lettered = patterned((x, y) => {
    if (isInk(x, y)) return red;
    return [60 + grain(x, y, 1) / 2, 90 + grain(x, y, 2) / 2, 150 + grain(x, y, 3) / 2];
  }, side);
  const jpeg = await lettered.jpeg({ quality: 85, chromaSubsampling: '4:2:0' }).toBuffer();
  t.ok(jpeg.byteLength > 0.1 * side * side, 'as many bytes as a photograph');
  const decoded = sharp(await sharp(jpeg).png({ compressionLevel: 0 }).toBuffer());
  // Half chroma resolution causes errors of 28, 16 to 18, and 9 to 11.
  for (const [width, most] of [
    [200, 24],
    [400, 12],
    [700, 7],
  ] as const) {
    const expected = await decoded.clone().resize({ width }).raw().toBuffer();
    for (const format of ['jpeg', 'webp'] as const) {
      const options = variant({ formats: [format], width });
      const { body } = await pool.transform(shared(jpeg), options, patient);
      const error = chromaError(expected, await sharp(body).raw().toBuffer());
      t.ok(error < most, `${format} at ${width} px: ${error.toFixed(1)}`);
    }
  }
});

/** Returns the mean difference in red minus blue between RGB pixels, in levels. */
function chromaError(expected: Buffer, found: Buffer): number {
  const chroma = (data: Buffer, at: number) => (data[at] ?? 0) - (data[at + 2] ?? 0);
  let sum = 0;
  for (let at = 0; at < expected.length; at += 3) {
    sum += Math.abs(chroma(expected, at) - chroma(found, at));
  }
  return sum / (expected.length / 3);
}

t.test('keeps the chroma of a line of coloured letters on a photograph', async (t) => {
  for (const width of [544, 1_200]) {
    const photograph = sharp(await picture('landscape.jpg')).resize(width, 400);
    const plain = await photograph.raw().toBuffer();
    const size = { width, height: 400, channels: 3 };
    t.equal(classifyPixels({ data: plain, ...size }).sharpChroma, false, 'without letters');
    for (const colour of [red, blue, green]) {
      for (const height of [12, 24, 48]) {
        const data = Uint8Array.from(plain);
        for (let y = 150; y < 150 + height; y += 1) {
          for (let x = 0; x < 4 * height; x += 1) {
            const isStem = (3 * x) % height < height / 3;
            if (isStem) data.set(colour, (y * width + 20 + x) * 3);
          }
        }
        t.equal(classifyPixels({ data, ...size }).sharpChroma, true, `${colour}, ${height} px`);
      }
    }
  }
});

t.test('does not classify a photograph as a drawing', async (t) => {
  for (const grey of [false, true]) {
    const photograph = noise(300, 200).blur(2).grayscale(grey);
    const { data, info } = await photograph.raw().toBuffer({ resolveWithObject: true });
    t.equal(classifyPixels({ data, ...info }).losslessBytes, Number.POSITIVE_INFINITY);
  }
});

t.test('classifies a page with a photograph on a third as a drawing of many colours', async (t) => {
  const page = patterned((x, y) => {
    const grey = (x * 37 + y * 91 + x * y) % 251;
    if (x < 130) return [grey, grey, grey];
    return [(x >> 5) * 16, (y >> 5) * 16, 200];
  }, 400);
  const { data, info } = await page.raw().toBuffer({ resolveWithObject: true });
  t.equal(classifyPixels({ data, ...info }).flat, true);
});

t.test('chooses the quality by the pixels with q=auto', async (t) => {
  const grey = (level: (x: number, y: number) => number) =>
    patterned((x, y) => [level(x, y), level(x, y), level(x, y)], 200);
  let state = 7;
  const noise = Array.from({ length: 200 * 200 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state / 2 ** 31) * 36;
  });
  const waves = grey((x, y) => 128 + 90 * Math.abs(Math.sin(x / 31 + Math.sin(y / 47) * 2)));
  const grain = grey((x, y) => 90 + x / 4 + (noise[x + 200 * y] ?? 0));
  /** Returns the bytes and the loss of q=auto, and the loss of a fixed quality. */
  const compare = async (picture: Sharp, format: 'jpeg' | 'webp' | 'avif') => {
    const reference = await toReference(picture.clone());
    const render = async (quality: 'auto' | 77) => {
      const options = { formats: [format], lossless: false, quality };
      const { body } = await rendered(await picture.clone().png().toBuffer(), options);
      return { bytes: body.byteLength, loss: 1 - (await ssim(reference, body)) };
    };
    const [auto, fixed] = [await render('auto'), await render(77)];
    return { bytes: auto.bytes / fixed.bytes, auto: auto.loss, fixed: fixed.loss };
  };
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    const [smooth, busy] = [await compare(waves, format), await compare(grain, format)];
    t.ok(smooth.bytes < 0.97 && busy.bytes > 1.1, `${format}: ${smooth.bytes}, ${busy.bytes}`);
    const [before, after] = [busy.fixed / smooth.fixed, busy.auto / smooth.auto];
    t.ok(after < 0.8 * before, `${format}: ${before} to ${after} times the loss`);
  }
});

t.test('raises the quality only of flat images with saturated edges', async (t) => {
  const letters = await redOnBlue();
  const raw = { width: 200, height: 200, channels: 3 } as const;
  const dots = Buffer.from(
    Array.from({ length: 200 * 200 }, (_, at) => ((at * 7919) % 13 < 6 ? red : blue)).flat(),
  );
  for (const [name, png, quality, sharpChroma] of [
    ['flat with saturated edges', letters, 90, true],
    [
      'flat and grey',
      await sharp(letters).grayscale().toColourspace('srgb').png().toBuffer(),
      80,
      false,
    ],
    ['saturated edges everywhere', await sharp(dots, { raw }).png().toBuffer(), 80, true],
  ] as const) {
    const { body } = await pool.transform(shared(png), variant({ formats: ['jpeg'] }), patient);
    const { width = 0, height = 0 } = await sharp(png).metadata();
    const flat = !name.includes('everywhere');
    const options = { quality, sharpChroma, flat, lossless: false, animated: false };
    const image = encodings.jpeg.encode(sharp(png), { ...options, pixels: width * height });
    t.strictSame(readTables(body), readTables(await image.toBuffer()), name);
  }
});

/** Returns a JPEG's quantisation tables, which depend on its quality (ITU-T T.81, B.2.4.1). */
function readTables(jpeg: Uint8Array): string[] {
  const bytes = Buffer.from(jpeg);
  const tables: string[] = [];
  for (let at = 2; bytes[at + 1] !== 0xda; at += 2 + bytes.readUInt16BE(at + 2)) {
    const isTable = bytes[at + 1] === 0xdb;
    if (isTable) tables.push(bytes.toString('hex', at + 4, at + 2 + bytes.readUInt16BE(at + 2)));
  }
  return tables;
}
