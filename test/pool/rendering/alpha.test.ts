import sharp from 'sharp';
import t from 'tap';
import { drawn } from './drawn.ts';
import { near, noise } from './pictures.ts';

const white = [255, 255, 255, 255];
const blue = [0, 0, 255, 255];

/** Blue, with a transparent right half. */
const source = await sharp({ create: { width: 50, height: 100, channels: 4, background: 'blue' } })
  .extend({ right: 50, background: 'transparent' })
  .png()
  .toBuffer();

t.test('formats with transparency keep it', async (t) => {
  for (const format of ['png', 'webp', 'avif', 'gif'] as const) {
    const { at } = await drawn(source, { formats: [format], width: 60 });
    t.ok(near(at(5, 30), blue, 12), `${format}: opaque half`);
    t.equal(at(55, 30)[3], 0, `${format}: transparent half`);
  }
});

t.test('transparent pixels are white in JPEG', async (t) => {
  const { at } = await drawn(source, { formats: ['jpeg'] });
  t.ok(near(at(5, 50), blue, 12));
  t.ok(near(at(95, 50), white));
});

t.test('a letterbox is transparent, or white in JPEG', async (t) => {
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
