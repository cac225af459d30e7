import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { near, noise, pixels, shared, variant } from './pictures.ts';

const pool = openPool(t);
const white = [255, 255, 255, 255];

/** Blue, with a transparent right half. */
async function halfTransparent(): Promise<Uint8Array> {
  const side = (alpha: number) => ({
    create: {
      width: 50,
      height: 100,
      channels: 4 as const,
      background: { r: 0, g: 0, b: 255, alpha },
    },
  });
  const clear = await sharp(side(0)).png().toBuffer();
  const image = sharp(side(1)).extend({ right: 50, background: 'transparent' });
  return shared(
    await image
      .composite([{ input: clear, left: 50, top: 0 }])
      .png()
      .toBuffer(),
  );
}

t.test('transparency is kept where the format can hold it', async (t) => {
  const source = await halfTransparent();
  for (const format of ['png', 'webp', 'avif', 'gif'] as const) {
    const { body } = await pool.transform(
      source,
      variant({ formats: [format], width: 60 }),
      patient,
    );
    const seen = await pixels(body);
    t.ok(near(seen.at(5, 30), [0, 0, 255, 255], 12), `${format}: opaque half`);
    t.equal(seen.at(55, 30)[3], 0, `${format}: transparent half`);
  }
});

t.test('JPEG has white where the source is transparent', async (t) => {
  const source = await halfTransparent();
  const { body } = await pool.transform(source, variant({ formats: ['jpeg'] }), patient);
  const seen = await pixels(body);
  t.ok(near(seen.at(5, 50), [0, 0, 255, 255], 12));
  t.ok(near(seen.at(95, 50), white));
});

t.test('a letterbox is transparent, or white in JPEG', async (t) => {
  const sources = {
    colour: await noise(100, 50).png().toBuffer(),
    grey: await noise(100, 50).toColourspace('b-w').png().toBuffer(),
    '16-bit': await noise(100, 50).toColourspace('rgb16').png().toBuffer(),
  };
  const box = { width: 100, height: 100, fit: 'contain' as const };
  for (const [name, bytes] of Object.entries(sources)) {
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      const asked = variant({ ...box, formats: [format] });
      const seen = await pixels((await pool.transform(shared(bytes), asked, patient)).body);
      if (format === 'jpeg') t.ok(near(seen.at(50, 5), white), `${name} as JPEG`);
      else t.equal(seen.at(50, 5)[3], 0, `${name} as ${format}`);
      t.equal(seen.at(50, 50)[3], 255);
    }
  }
});
