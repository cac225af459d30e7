import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain } from './drawn.ts';
import { near, type Rgb } from './pictures.ts';

const brown: Rgb = [200, 100, 50];
const opaque = await plain(40, 20, brown);
const modulation = { brightness: 1, saturation: 1, hue: 0, lightness: 0 };

/** A disc's pixels, clear ones black as they are in most files, must all have the disc's colour. */
const disc = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle cx="30" cy="30" r="20" fill="rgb(200,100,50)"/></svg>',
  ),
)
  .png()
  .toBuffer();

/** The worst distance from brown of all pixels that can be seen well enough to tell. */
async function worst(source: Uint8Array, asked: Partial<Variant>): Promise<number> {
  const { body } = await drawn(source, asked);
  const data = await sharp(body).ensureAlpha().raw().toBuffer();
  let distance = 0;
  for (let start = 0; start < data.length; start += 4) {
    if ((data[start + 3] ?? 0) < 64) continue;
    for (const [channel, value] of brown.entries()) {
      distance = Math.max(distance, Math.abs((data[start + channel] ?? 0) - value));
    }
  }
  return distance;
}

t.test('soft edges do not darken', async (t) => {
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
  for (const [name, [source, asked]] of Object.entries(soft)) {
    const distance = await worst(source, asked);
    t.ok(distance <= 16, `${name}: ${distance}`);
  }
});

t.test('transparent colours change like opaque ones, with and without a resize', async (t) => {
  const shadow = await plain(20, 20, [0, 0, 0], 0.1);
  const lighter = { modulate: { ...modulation, lightness: 20 } };
  const whole = (await drawn(shadow, lighter)).at(2, 2);
  for (const more of [{ width: 10 }, { blur: 2 }, { width: 10, sharpen: 1 }]) {
    t.ok(near((await drawn(shadow, { ...lighter, ...more })).at(5, 5), whole, 12));
  }
});

t.test('opacity is multiplied with alpha', async (t) => {
  t.ok(near((await drawn(opaque, { opacity: 0.5 })).at(5, 5), [...brown, 128], 1));
  const half = await plain(20, 20, brown, 0.5);
  t.ok(near((await drawn(half, { opacity: 0.5 })).at(5, 5), [...brown, 64], 2));
  t.equal((await drawn(opaque, { opacity: 0 })).at(5, 5)[3], 0, 'fully transparent');
  const resized = await drawn(half, { opacity: 0.5, width: 10, formats: ['webp'] });
  t.ok(near(resized.at(5, 5), [...brown, 64], 6));
});

t.test('opacity without transparency blends with the background', async (t) => {
  const clear = [228, 178, 153, 255];
  const grey = await sharp(opaque).toColourspace('b-w').jpeg().toBuffer();
  for (const [name, source] of Object.entries({ opaque, disc })) {
    const centre = name === 'disc' ? 30 : 10;
    const seen = async (asked: Partial<Variant>) =>
      (await drawn(source, { opacity: 0.5, ...asked })).at(centre, centre);
    t.ok(near(await seen({ formats: ['jpeg'] }), clear, 6), `${name}: white`);
    t.ok(near(await seen({ flatten: true }), clear, 2), `${name}: flattened`);
    const blue = await seen({ flatten: true, background: '#0000c8ff' });
    t.ok(near(blue, [100, 50, 125, 255], 2), `${name}: the asked one`);
  }
  for (const stripMetadata of [true, false]) {
    const made = await drawn(grey, { opacity: 0.5, stripMetadata, formats: ['jpeg'] });
    t.ok(near(made.at(5, 5), [191, 191, 191, 255], 6), 'grey pictures too');
  }
  const box = { width: 40, height: 40, fit: 'contain', formats: ['jpeg'], opacity: 0.5 } as const;
  t.ok(near((await drawn(opaque, box)).at(2, 2), [255, 255, 255], 6), 'a white border');
});
