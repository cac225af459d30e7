import sharp from 'sharp';
import t from 'tap';
import { drawn } from './drawn.ts';
import { near } from './pictures.ts';

/** Inside of sRGB. In Display P3 it has clearly different values: about 185, 71, 50. */
const colour = [200, 60, 40] as const;
const flat = (background = 'rgb(200, 60, 40)') =>
  sharp({ create: { width: 64, height: 64, channels: 3, background } });
const formats = ['jpeg', 'png', 'webp', 'avif', 'gif'] as const;

const sources = {
  'sRGB without a profile': await flat().png().toBuffer(),
  'Display P3': await flat().withIccProfile('p3').png().toBuffer(),
  'Display P3, JPEG': await flat().withIccProfile('p3').jpeg().toBuffer(),
  'Display P3, 16 bits': await flat().toColourspace('rgb16').withIccProfile('p3').png().toBuffer(),
  '16 bits without a profile': await flat().toColourspace('rgb16').png().toBuffer(),
};

/** The colour that a viewer without support of profiles shows. */
async function stored(encoded: Uint8Array): Promise<number[]> {
  const data = await sharp(encoded, { ignoreIcc: true }).removeAlpha().raw().toBuffer();
  return [...data.subarray(0, 3)];
}

for (const [name, source] of Object.entries(sources)) {
  t.test(name, async (t) => {
    for (const format of formats) {
      const asked = { formats: [format], width: 32 };
      const dropped = await drawn(source, asked);
      t.notOk((await dropped.header()).hasProfile, `${format}: no profile`);
      const shown = await stored(dropped.body);
      t.ok(near(shown, colour, 8), `${format}: sRGB values`, { shown });

      // GIF has no widely supported profiles.
      if (format === 'gif') continue;
      const kept = await drawn(source, { ...asked, stripMetadata: false });
      const seen = kept.at(10, 10);
      t.ok(near(seen, colour, 8), `${format}: right with its own profile`, { seen });
      const { hasProfile } = await kept.header();
      t.equal(hasProfile, name.startsWith('Display P3'), `${format}: has the source’s profile`);
    }
  });
}

t.test('CMYK is converted to RGB without its profile', async (t) => {
  const cmyk = await flat().toColourspace('cmyk').withIccProfile('cmyk').jpeg().toBuffer();
  t.equal((await sharp(cmyk).metadata()).space, 'cmyk');
  for (const stripMetadata of [true, false]) {
    const { body, header } = await drawn(cmyk, { stripMetadata, formats: ['jpeg'] });
    const { space, hasProfile } = await header();
    t.equal(space, 'srgb');
    t.notOk(hasProfile);
    t.ok(near(await stored(body), colour, 25), 'about the same colour');
  }
});

t.test('grey stays grey', async (t) => {
  for (const space of ['b-w', 'grey16']) {
    const grey = await flat('rgb(100, 100, 100)').toColourspace(space).png().toBuffer();
    for (const format of formats) {
      const asked = { formats: [format], width: 20, stripMetadata: false };
      const { body } = await drawn(grey, asked);
      t.ok(near(await stored(body), [100, 100, 100], 3), `${space} as ${format}`);
    }
  }
});
