import { createHash } from 'node:crypto';
import { transferableSymbol, valueSymbol } from 'piscina';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import transform from '../../../pool/execution/thread.ts';
import { classifyPixels } from '../../../pool/rendering/encode/pixel-traits.ts';
import { openPool, patient } from '../execution/pools.ts';
import { blue, green, noise, type Rgb, red, shared, variant, yellow } from './pictures.ts';
import { redAndBlueError, redOnBlue } from './red-on-blue.ts';

const pool = openPool(t);
const source = shared(await noise(300, 200).jpeg().toBuffer());

const contentTypes = {
  avif: 'image/avif',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
} as const;

for (const format of ['avif', 'webp', 'jpeg', 'png', 'gif'] as const) {
  t.test(format, async (t) => {
    const made = await pool.transform(source, variant({ width: 90, formats: [format] }), patient);
    t.equal(made.contentType, `image/${format}`);
    t.equal(made.contentType, contentTypes[format]);
    t.same([made.width, made.height], [90, 60]);
    const header = await sharp(made.body).metadata();
    t.equal(header.mediaType, contentTypes[format], 'the media type of the bytes');
    const hash = createHash('sha256').update(made.body).digest('base64url').slice(0, 22);
    t.equal(made.etag, `"${hash}"`, 'strong entity tag of the bytes');
    t.ok(made.transformMs > 0 && made.queueMs >= 0);
  });
}

t.test('the same source and variant have the same bytes', async (t) => {
  for (const format of ['avif', 'webp', 'jpeg', 'png', 'gif'] as const) {
    const asked = variant({ width: 90, formats: [format] });
    const [one, other] = await Promise.all([
      pool.transform(source, asked, patient),
      pool.transform(source, asked, patient),
    ]);
    t.equal(one.etag, other.etag, format);
  }
});

t.test('a lower quality has fewer bytes', async (t) => {
  for (const format of ['avif', 'webp', 'jpeg'] as const) {
    const sizes: number[] = [];
    for (const quality of [1, 15, 45, 80, 100]) {
      const asked = variant({ quality, formats: [format] });
      sizes.push((await pool.transform(source, asked, patient)).body.byteLength);
    }
    const growing = sizes.every((size, index) => index === 0 || size > (sizes[index - 1] ?? 0));
    t.ok(growing, `${format}: ${sizes}`);
  }
});

t.test('the body has an ArrayBuffer of its own', async (t) => {
  for (const width of [1, 300]) {
    const { body } = await pool.transform(source, variant({ width }), patient);
    t.ok(body instanceof Uint8Array);
    t.equal(body.byteOffset, 0);
    t.equal(body.buffer.byteLength, body.byteLength);
  }
});

t.test('a thread transfers the body', async (t) => {
  const limits = { sourceMaxPixels: 1e6, softTimeoutSeconds: 10, isolated: true };
  const sent = await transform({
    source,
    watermark: null,
    variant: variant({ width: 50 }),
    limits,
  });
  t.match(sent, { [valueSymbol]: { ok: true, body: Uint8Array } });
  if (typeof sent !== 'object' || sent === null || !(transferableSymbol in sent)) {
    return t.fail('nothing is transferred');
  }
  t.equal(sent[transferableSymbol], Reflect.get(Reflect.get(sent, valueSymbol), 'body').buffer);
});

t.test('a source may be a part of a larger buffer', async (t) => {
  const large = new Uint8Array(new SharedArrayBuffer(source.byteLength + 20)).fill(1);
  large.set(source, 10);
  const part = large.subarray(10, 10 + source.byteLength);
  const asked = variant({ width: 20 });
  const made = await pool.transform(part, asked, patient);
  t.equal(made.etag, (await pool.transform(source, asked, patient)).etag);
});

const drawn = await redOnBlue();

t.test('a drawing is lossless if that has fewer bytes', async (t) => {
  const negotiated = true;
  const accepts = {
    webp: [variant({ formats: ['webp'] }), variant({ formats: ['avif', 'webp'], negotiated })],
    png: [variant({ formats: ['avif'], negotiated }), variant({ formats: [], negotiated })],
  } as const;
  for (const [format, variants] of Object.entries(accepts)) {
    for (const asked of variants) {
      const made = await pool.transform(shared(drawn), asked, patient);
      t.equal(made.contentType, `image/${format}`, asked.formats.join());
      t.equal(await redAndBlueError(made.body), 0, 'exact');
      const lossy = await pool.transform(shared(drawn), { ...asked, lossless: false }, patient);
      t.ok(made.body.byteLength <= lossy.body.byteLength, `at most ${lossy.body.byteLength} bytes`);
    }
  }
});

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];

/** Pictures of few colours that have no flat area, by their colour at a pixel. */
const patterns: Readonly<Record<string, (x: number, y: number) => Rgb>> = {
  checkers: (x, y) => ((x + y) % 2 === 0 ? red : blue),
  grid: (x, y) => (x % 2 === 0 || y % 2 === 0 ? blue : yellow),
  stripes: (x) => [red, green, blue][x % 3] ?? red,
  // Four by four thresholds, as of a printer.
  dithered: (x, y) => ((x * 7 + y * 5 + ((x * y) >> 1)) % 16 < (x + y) / 15 ? black : white),
  'colours by chance': (x, y) =>
    [red, green, blue, yellow][((x * x * 7 + y * y * 13) % 11) & 3] ?? red,
};
function patterned(colourAt: (x: number, y: number) => Rgb, side = 120): Sharp {
  const data = Buffer.alloc(side * side * 3);
  for (let pixel = 0; pixel < side * side; pixel += 1) {
    data.set(colourAt(pixel % side, Math.floor(pixel / side)), 3 * pixel);
  }
  return sharp(data, { raw: { width: side, height: side, channels: 3 } });
}

t.test('an image of few colours is lossless if that has fewer bytes', async (t) => {
  for (const [name, colourAt] of Object.entries(patterns)) {
    const picture = await patterned(colourAt).png().toBuffer();
    const expected = await patterned(colourAt).raw().toBuffer();
    for (const [format, asked] of [
      ['webp', variant({ formats: ['avif', 'webp'], negotiated: true })],
      ['webp', variant({ formats: ['webp'] })],
      ['png', variant({ formats: ['jpeg'], negotiated: true })],
    ] as const) {
      const made = await pool.transform(shared(picture), asked, patient);
      t.equal(made.contentType, `image/${format}`, name);
      const pixels = await sharp(made.body).toColourspace('srgb').removeAlpha().raw().toBuffer();
      t.ok(pixels.equals(expected), `${name} as ${format}: exact`);
      const lossy = await pool.transform(shared(picture), { ...asked, lossless: false }, patient);
      const bytes = [made.body.byteLength, lossy.body.byteLength] as const;
      t.ok(bytes[0] < bytes[1], `${name} as ${format}: ${bytes}`);
    }
  }
});

t.test('edges at even positions keep their chroma', async (t) => {
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

t.test('a photograph is not classified as a drawing', async (t) => {
  for (const grey of [false, true]) {
    const photograph = noise(300, 200).blur(2).grayscale(grey);
    const { data, info } = await photograph.raw().toBuffer({ resolveWithObject: true });
    t.equal(classifyPixels({ data, ...info }).drawn, false);
  }
});

t.test('maxbytes lowers the quality as far as necessary', async (t) => {
  for (const format of ['avif', 'webp', 'jpeg'] as const) {
    const asked = variant({ width: 200, formats: [format] });
    const sizeWith = async (maxBytes: number | null) =>
      (await pool.transform(source, { ...asked, maxBytes }, patient)).body.byteLength;
    const free = await sizeWith(null);
    t.equal(await sizeWith(free), free, 'no lower than needed');
    const half = await sizeWith(Math.round(free / 2));
    t.ok(half <= free / 2 && half > free / 3, `${format}: ${half} of ${free} bytes`);
    const lowest = await pool.transform(source, { ...asked, quality: 1 }, patient);
    t.equal(await sizeWith(10), lowest.body.byteLength, 'the smallest, if nothing fits');
  }
  const png = variant({ width: 200 });
  const unlimited = await pool.transform(source, png, patient);
  t.equal((await pool.transform(source, { ...png, maxBytes: 10 }, patient)).etag, unlimited.etag);
});
