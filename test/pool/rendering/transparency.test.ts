import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain } from './drawn.ts';
import { filled, gradient, modulation, near, noise, type Rgb } from './pictures.ts';

const brown: Rgb = [200, 100, 50];
const white = [255, 255, 255, 255];
const clear = [0, 0, 0, 0];
const opaque = await plain(40, 20, brown);

/** A brown disc. As in most files, its transparent pixels are black. */
const disc = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle cx="30" cy="30" r="20" fill="rgb(200,100,50)"/></svg>',
  ),
)
  .png()
  .toBuffer();

/** Returns the largest difference from brown of all pixels that are at least a quarter opaque. */
async function difference(source: Uint8Array, options: Partial<Variant>): Promise<number> {
  const { body } = await drawn(source, options);
  const data = await sharp(body).ensureAlpha().raw().toBuffer();
  let largest = 0;
  for (let start = 0; start < data.length; start += 4) {
    if ((data[start + 3] ?? 0) < 64) continue;
    for (const [channel, value] of brown.entries()) {
      largest = Math.max(largest, Math.abs((data[start + channel] ?? 0) - value));
    }
  }
  return largest;
}

t.test('does not darken soft edges', async (t) => {
  const borders = { top: 8, right: 8, bottom: 8, left: 8 };
  const soft: Record<string, [Uint8Array, Partial<Variant>]> = {
    'made smaller': [disc, { width: 23 }],
    'made larger': [disc, { width: 150, enlarge: true }],
    blurred: [disc, { blur: 3 }],
    'blurred and smaller': [disc, { blur: 3, width: 40 }],
    turned: [disc, { rotate: 33, blur: 1 }],
    cropped: [disc, { crop: { left: 5, top: 5, width: 30, height: 30 }, flip: true, width: 17 }],
    'an opaque picture in a box': [opaque, { width: 40, height: 40, fit: 'contain', blur: 3 }],
    'with a border': [opaque, { extend: borders, blur: 4 }],
    'on a thin background': [opaque, { extend: borders, blur: 4, background: '#c8643210' }],
    'turned, opaque': [opaque, { rotate: 33, blur: 2 }],
    'with a median': [opaque, { extend: borders, median: 5, blur: 2 }],
  };
  for (const [name, [source, options]] of Object.entries(soft)) {
    const largest = await difference(source, options);
    t.ok(largest <= 16, `${name}: ${largest}`);
  }
});

t.test('changes transparent colours like opaque colours, with and without a resize', async (t) => {
  const shadow = await plain(20, 20, [0, 0, 0], 0.1);
  const lighter = { modulate: { ...modulation, lightness: 20 } };
  const whole = (await drawn(shadow, lighter)).at(2, 2);
  for (const more of [{ width: 10 }, { blur: 2 }, { width: 10, sharpen: 1 }]) {
    t.ok(near((await drawn(shadow, { ...lighter, ...more })).at(5, 5), whole, 12));
  }
});

t.test('multiplies opacity with alpha', async (t) => {
  t.ok(near((await drawn(opaque, { opacity: 0.5 })).at(5, 5), [...brown, 128], 1));
  const half = await plain(20, 20, brown, 0.5);
  t.ok(near((await drawn(half, { opacity: 0.5 })).at(5, 5), [...brown, 64], 2));
  t.equal((await drawn(opaque, { opacity: 0 })).at(5, 5)[3], 0, 'fully transparent');
  const resized = await drawn(half, { opacity: 0.5, width: 10, formats: ['webp'] });
  t.ok(near(resized.at(5, 5), [...brown, 64], 6));
});

t.test('blends opaque formats with the background by opacity', async (t) => {
  const paler = [228, 178, 153, 255];
  const grey = await sharp(opaque).toColourspace('b-w').jpeg().toBuffer();
  for (const [name, source] of Object.entries({ opaque, disc })) {
    const centre = name === 'disc' ? 30 : 10;
    const seen = async (options: Partial<Variant>) =>
      (await drawn(source, { opacity: 0.5, ...options })).at(centre, centre);
    t.ok(near(await seen({ formats: ['jpeg'] }), paler, 6), `${name}: white`);
    t.ok(near(await seen({ flatten: true }), paler, 2), `${name}: flattened`);
    const blue = await seen({ flatten: true, background: '#0000c8ff' });
    t.ok(near(blue, [100, 50, 125, 255], 2), `${name}: the asked one`);
  }
  for (const stripMetadata of [true, false]) {
    const output = await drawn(grey, { opacity: 0.5, stripMetadata, formats: ['jpeg'] });
    t.ok(near(output.at(5, 5), [191, 191, 191, 255], 6), 'grey pictures too');
  }
  const box = { width: 40, height: 40, fit: 'contain', formats: ['jpeg'], opacity: 0.5 } as const;
  t.ok(near((await drawn(opaque, box)).at(2, 2), [255, 255, 255], 6), 'a white border');
});

/** Blue, with a transparent right half. */
const halfBlue = await filled(50, 100, 'blue', 4)
  .extend({ right: 50, background: 'transparent' })
  .png()
  .toBuffer();

t.test('keeps transparency in formats that support it, and draws white in JPEG', async (t) => {
  const opaque = [0, 0, 255, 255];
  for (const format of ['png', 'webp', 'avif', 'gif', 'jpeg'] as const) {
    const { at } = await drawn(halfBlue, { formats: [format], width: 60 });
    t.ok(near(at(5, 30), opaque, 12), `${format}: opaque half`);
    if (format === 'jpeg') t.ok(near(at(55, 30), white), `${format}: transparent half`);
    else t.equal(at(55, 30)[3], 0, `${format}: transparent half`);
  }
});

t.test('adds a letterbox, transparent or white in JPEG', async (t) => {
  const sources = {
    colour: await noise(100, 50).png().toBuffer(),
    grey: await noise(100, 50).toColourspace('b-w').png().toBuffer(),
    '16-bit': await noise(100, 50).toColourspace('rgb16').png().toBuffer(),
  };
  for (const [name, bytes] of Object.entries(sources)) {
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      const box = { width: 100, height: 100, fit: 'contain', formats: [format] } as const;
      const { at } = await drawn(bytes, box);
      if (format === 'jpeg') t.ok(near(at(50, 5), white), `${name} as JPEG`);
      else t.equal(at(50, 5)[3], 0, `${name} as ${format}`);
      t.equal(at(50, 50)[3], 255);
    }
  }
});

t.test('adds a separate border width per side', async (t) => {
  const extend = { top: 1, right: 2, bottom: 3, left: 4 };
  const orange: Rgb = [255, 128, 0];
  const wide = await gradient(120, 40);
  const output = await drawn(wide, { width: 60, extend, background: '#ff8000ff' });
  t.same(output.size, [66, 24]);
  t.ok(near(output.at(4, 1), [0, 0, 0, 255], 8), 'the image begins after it');
  t.ok(near(output.at(3, 1), orange, 0) && near(output.at(4, 0), orange, 0));
  t.ok(near(output.at(63, 20), [236, 76, 0], 8), 'and ends before it');
  t.ok(near(output.at(64, 20), orange, 0) && near(output.at(63, 21), orange, 0));
  t.ok(near((await drawn(wide, { extend })).at(0, 0), clear), 'transparent');
  const jpeg = await drawn(wide, { extend, formats: ['jpeg'] });
  t.ok(near(jpeg.at(1, 1), white, 60), 'white in JPEG');
  const thin = await drawn(wide, { extend, background: '#ff800080' });
  t.ok(near(thin.at(0, 0), [255, 128, 0, 128], 1), 'half transparent');
});

t.test('blends transparency with the background in flatten', async (t) => {
  const half = await plain(20, 20, [0, 0, 200], 0.5);
  const flat = await drawn(half, { flatten: true, background: '#c80000ff' });
  t.ok(near(flat.at(5, 5), [100, 0, 100, 255], 2));
  t.ok(near((await drawn(half, { flatten: true })).at(5, 5), [128, 128, 228, 255], 2), 'white');
  const thin = await drawn(half, { flatten: true, background: '#c8000080', formats: ['webp'] });
  t.ok(near(thin.at(5, 5), [113, 63, 163, 255], 6), 'a background blended with white');
  const jpeg = await drawn(half, { background: '#c80000ff', formats: ['jpeg'] });
  t.ok(near(jpeg.at(5, 5), [100, 0, 100, 255], 6), 'always in JPEG');
  const kept = await drawn(half, { background: '#c80000ff' });
  t.ok(near(kept.at(5, 5), [0, 0, 200, 128], 2), 'only on request in other formats');
});
