import sharp from 'sharp';
import t from 'tap';
import { rasterFormats } from '../../../pool/rendering/encode/encodings.ts';
import type { Variant } from '../../../pool/variant.ts';
import { drawn } from './drawn.ts';
import { near } from './pictures.ts';

const orange = '#ff8000ff';
const grey = (alpha = 1) =>
  sharp({
    create: { width: 40, height: 40, channels: 4, background: { r: 128, g: 128, b: 128, alpha } },
  });
const frames = sharp(Buffer.concat([Buffer.alloc(1600, 90), Buffer.alloc(1600, 128)]), {
  raw: { width: 40, height: 80, channels: 1, pageHeight: 40 },
});
const sources = {
  '8 bits': await grey().removeAlpha().toColourspace('b-w').jpeg().toBuffer(),
  '16 bits': await grey().removeAlpha().toColourspace('grey16').png().toBuffer(),
  clear: await sharp(await grey(0.5).png().toBuffer())
    .toColourspace('b-w')
    .png()
    .toBuffer(),
  moving: await frames.toColourspace('b-w').gif().toBuffer(),
};

/** Variants, and a pixel with the background colour. */
const options: readonly (readonly [Partial<Variant>, at: readonly [number, number]])[] = [
  [{ width: 80, height: 40, fit: 'contain' }, [2, 20]],
  [{ width: 20, height: 10, fit: 'contain', gamma: 2 }, [1, 5]],
  [{ extend: { top: 9, right: 9, bottom: 9, left: 9 } }, [4, 4]],
  [{ rotate: 45 }, [1, 1]],
  [{ width: 30, flip: true, extend: { top: 9, right: 9, bottom: 9, left: 9 } }, [4, 4]],
];

for (const [name, source] of Object.entries(sources)) {
  t.test(name, async (t) => {
    for (const [request, at] of options) {
      for (const format of ['png', 'webp', 'jpeg'] as const) {
        const asking = { ...request, background: orange, formats: [format] } as const;
        const { at: pixel } = await drawn(source, asking);
        const seen = pixel(...at);
        t.ok(near(seen, [255, 128, 0], 12), `${format} ${Object.keys(request)}`, { seen });
      }
    }
    for (const grayscale of [false, true]) {
      const [r = 0, , b = 0] = (await drawn(source, { tint: orange, grayscale })).at(20, 20);
      t.ok(r - b > 60, 'tinted', { r, b });
    }
  });
}

t.test('keeps grey images grey', async (t) => {
  for (const name of ['8 bits', '16 bits'] as const) {
    for (const format of rasterFormats) {
      const { at } = await drawn(sources[name], {
        formats: [format],
        width: 20,
        stripMetadata: false,
      });
      t.ok(near(at(10, 10), [128, 128, 128], 3), `${name} as ${format}`);
    }
  }
});

t.test('flattens transparency on the background', async (t) => {
  for (const request of [{ flatten: true }, { formats: ['jpeg'] }] satisfies Partial<Variant>[]) {
    const seen = (await drawn(sources.clear, { ...request, background: orange })).at(20, 20);
    t.ok(near(seen, [192, 128, 64, 255], 3), Object.keys(request).join(), { seen });
  }
});

t.test('combines grayscale and tint', async (t) => {
  const blue = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#2040c0' } })
    .png()
    .toBuffer();
  const both = await drawn(blue, { tint: orange, grayscale: true });
  t.same(both.at(4, 4), (await drawn(blue, { tint: orange })).at(4, 4));
});

t.test('uses the requested kernel in the first pass', async (t) => {
  const dots = await sharp(Buffer.from([...Array(64)].map((_, index) => (index % 2) * 255)), {
    raw: { width: 64, height: 1, channels: 1 },
  })
    .resize(64, 64, { kernel: 'nearest', fit: 'fill' })
    .toColourspace('b-w')
    .png()
    .toBuffer();
  const output = await drawn(dots, { width: 40, kernel: 'nearest', tint: '#808080ff' });
  const row = Array.from({ length: 40 }, (_, x) => output.at(x, 20)[0] ?? 0);
  t.same([...new Set(row)].sort(), [0, 255], 'no interpolated pixels');
});
