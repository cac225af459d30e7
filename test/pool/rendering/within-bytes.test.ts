import fc from 'fast-check';
import sharp from 'sharp';
import t from 'tap';
import { picture } from '../../../demo/origin/pictures.ts';
import { encodings, ownScale } from '../../../pool/rendering/encode/encodings.ts';
import { encodeJxl } from '../../../pool/rendering/encode/jxl/encoder.ts';
import { encoderQuality } from '../../../pool/rendering/encode/quality.ts';
import { maxEncodes, withinBytes } from '../../../pool/rendering/encode/within-bytes.ts';
import type { Variant } from '../../../pool/variant.ts';
import { more } from '../../extended.ts';
import { drawn } from './drawn.ts';

const formats = ['jpeg', 'webp', 'avif', 'jxl'] as const;
type LossyFormat = (typeof formats)[number];
const typicalBytes = (format: LossyFormat) => encodings[format].lossy.typicalBytes;

const exactly99 = { minLength: 99, maxLength: 99 };
/** An encoder's bytes by quality, which grow in steps of random size. */
const encoder = fc
  .record({
    smallest: fc.integer({ min: 50, max: 5_000 }),
    growth: fc.array(fc.double({ min: 0, max: 0.08, noNaN: true }), exactly99),
  })
  .map(({ smallest, growth }) => {
    const bytes = [Number.NaN, smallest];
    for (const part of growth) bytes.push(Math.round((bytes.at(-1) ?? 0) * Math.exp(part)));
    return bytes;
  });

t.test('finds an output that fits in five runs with any encoder', async (t) => {
  const quality = fc.integer({ min: 1, max: 100 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...formats),
      encoder,
      quality,
      fc.integer({ min: 1, max: 50_000 }),
      async (format, bytes, q, most) => {
        const tried: number[] = [];
        const { length } = (
          await withinBytes(typicalBytes(format), q, most, async (at) => {
            tried.push(at);
            return { data: { length: bytes[at] ?? 0, byteLength: bytes[at] ?? 0 } as Uint8Array };
          })
        ).data;
        const smallest = bytes[1] ?? 0;
        return (
          tried.length <= maxEncodes &&
          tried[0] === q &&
          tried.every((at) => at >= 1 && at <= q) &&
          (smallest > most ? length === smallest : length <= most)
        );
      },
    ),
  );
  t.pass();
});

/** Returns an image's bytes by quality, from 1 to 80. */
async function measureBytes(file: Buffer, format: LossyFormat): Promise<number[]> {
  const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true });
  const pixels = info.width * info.height;
  const known = new Map<number, number>();
  const form = { type: 'pixels', ...info } as const;
  const bytes = [Number.NaN];
  for (let quality = 1; quality <= 80; quality += 1) {
    const own = encoderQuality(format, quality, pixels);
    if (!known.has(own)) {
      const encoded =
        format === 'jxl'
          ? await encodeJxl({ bytes: data, form }, { quality: own, effort: 4 }, 60)
          : await ownScale[format](sharp(data, { raw: info }), own, pixels).toBuffer();
      known.set(own, encoded.length);
    }
    bytes.push(known.get(own) ?? 0);
  }
  return bytes;
}

const names = ['portrait-rotated.jpg', 'bokeh.webp', 'coast.jpg'] as const;
const photographs = await Promise.all(
  // Every quality of a photograph takes two seconds.
  names.slice(0, more ? names.length : 1).map(async (name) =>
    sharp(await picture(name), { autoOrient: true })
      .resize({ width: 200 })
      .png()
      .toBuffer(),
  ),
);

/** Limits on how far below the best quality a search can end: JPEG XL misses some low qualities. */
const mostLess = { jpeg: 3, webp: 3, avif: 3, jxl: 5 } as const;

t.test('finds the best quality that fits, or little less', async (t) => {
  for (const format of formats) {
    let missed = 0;
    for (const [index, photograph] of photographs.entries()) {
      const bytes = await measureBytes(photograph, format);
      const [smallest = 0, largest = 0] = [bytes[1], bytes[80]];
      for (let step = 1; step < 20; step += 1) {
        const most = Math.round(smallest * (largest / smallest) ** (step / 20));
        const best = bytes.findLastIndex((length) => length <= most);
        const { data, quality } = await withinBytes(typicalBytes(format), 80, most, async (at) => ({
          data: { byteLength: bytes[at] ?? 0 } as Uint8Array,
          quality: at,
        }));
        // Qualities with the same bytes are one.
        const less = new Set(bytes.slice(quality, best + 1)).size - 1;
        const label = `${format} ${index}: ${quality}, best ${best}, in ${most} bytes`;
        t.ok(data.byteLength <= most && less <= mostLess[format], label);
        if (less > 1) missed += 1;
      }
    }
    const most = Math.ceil((5 / 3) * photographs.length);
    t.ok(missed <= most, `${format}: ${missed} are lower by more than one`);
  }
});

t.test('lowers the quality as far as maxbytes requires', async (t) => {
  const [photograph = Buffer.alloc(0)] = photographs;
  const bytesWith = async (options: Partial<Variant>) =>
    (await drawn(photograph, options)).body.byteLength;
  for (const format of formats) {
    const options = { formats: [format], quality: 80 } as const;
    const free = await bytesWith(options);
    t.equal(await bytesWith({ ...options, maxBytes: free }), free, 'no lower than needed');
    for (const part of more ? [0.3, 0.4, 0.6] : [0.4]) {
      const maxBytes = Math.round(part * free);
      const bytes = await bytesWith({ ...options, maxBytes });
      t.ok(bytes <= maxBytes && bytes > 0.9 * maxBytes, `${format}: ${bytes} of ${maxBytes}`);
    }
    const smallest = await bytesWith({ ...options, quality: 1 });
    t.equal(await bytesWith({ ...options, maxBytes: 10 }), smallest, 'if nothing fits');
  }
  const png = { formats: ['png'] } as const;
  t.equal(await bytesWith({ ...png, maxBytes: 10 }), await bytesWith(png), 'not in PNG');
  t.same((await drawn(photograph, { ...png, maxBytes: 10 })).warnings, ['maxbytes_exceeded']);
  const auto = { formats: ['webp'], quality: 'auto' } as const;
  const maxBytes = Math.round((await bytesWith(auto)) / 2);
  const bytes = await bytesWith({ ...auto, maxBytes });
  t.ok(bytes <= maxBytes && bytes > 0.8 * maxBytes, `q=auto: ${bytes} of ${maxBytes}`);
});
