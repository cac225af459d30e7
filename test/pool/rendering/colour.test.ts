import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { near, pixels, shared, variant } from './pictures.ts';

const pool = openPool(t);
/** Inside of sRGB, and visibly elsewhere in Display P3: about 185, 71, 50 there. */
const colour = [200, 60, 40] as const;
const flat = () =>
  sharp({
    create: { width: 64, height: 64, channels: 3, background: { r: 200, g: 60, b: 40 } },
  });

const sources = {
  'sRGB without a profile': await flat().png().toBuffer(),
  'Display P3': await flat().withIccProfile('p3').png().toBuffer(),
  'Display P3, JPEG': await flat().withIccProfile('p3').jpeg().toBuffer(),
  'Display P3, 16 bits': await flat().toColourspace('rgb16').withIccProfile('p3').png().toBuffer(),
  '16 bits without a profile': await flat().toColourspace('rgb16').png().toBuffer(),
};

/** What a viewer shows that knows no profiles. */
async function stored(encoded: Uint8Array): Promise<number[]> {
  const data = await sharp(encoded, { ignoreIcc: true }).removeAlpha().raw().toBuffer();
  return [...data.subarray(0, 3)];
}

for (const [name, bytes] of Object.entries(sources)) {
  t.test(name, async (t) => {
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'gif'] as const) {
      const dropped = await pool.transform(
        shared(bytes),
        variant({ formats: [format], width: 32 }),
        patient,
      );
      t.notOk((await sharp(dropped.body).metadata()).hasProfile, `${format}: no profile`);
      const shown = await stored(dropped.body);
      t.ok(near(shown, colour, 8), `${format}: sRGB values`, { shown });

      const kept = await pool.transform(
        shared(bytes),
        variant({ formats: [format], width: 32, stripMetadata: false }),
        patient,
      );
      // GIF has no place for a profile that viewers know of.
      if (format === 'gif') continue;
      const seen = (await pixels(kept.body)).at(10, 10);
      t.ok(near(seen, colour, 8), `${format}: right with its own profile`, { seen });
      const { hasProfile } = await sharp(kept.body).metadata();
      t.equal(hasProfile, name.startsWith('Display P3'), `${format}: has the source’s profile`);
    }
  });
}

t.test('CMYK is converted, and its profile is not put on RGB', async (t) => {
  const cmyk = await flat().toColourspace('cmyk').withIccProfile('cmyk').jpeg().toBuffer();
  t.equal((await sharp(cmyk).metadata()).space, 'cmyk');
  for (const stripMetadata of [true, false]) {
    const asked = variant({ stripMetadata, formats: ['jpeg'] });
    const { body } = await pool.transform(shared(cmyk), asked, patient);
    const header = await sharp(body).metadata();
    t.equal(header.space, 'srgb');
    t.notOk(header.hasProfile);
    t.ok(near(await stored(body), colour, 25), 'about the same colour');
  }
});

t.test('grey stays grey', async (t) => {
  for (const space of ['b-w', 'grey16']) {
    const grey = await sharp({
      create: { width: 64, height: 64, channels: 3, background: { r: 100, g: 100, b: 100 } },
    })
      .toColourspace(space)
      .png()
      .toBuffer();
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'gif'] as const) {
      const asked = variant({ formats: [format], width: 20, stripMetadata: false });
      const { body } = await pool.transform(shared(grey), asked, patient);
      t.ok(near(await stored(body), [100, 100, 100], 3), `${space} as ${format}`);
    }
  }
});
