import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain } from './drawn.ts';
import { near, type Rgb } from './pictures.ts';

/** Inside of sRGB; in Display P3 it has other numbers, about 185, 71, 50. */
const colour: Rgb = [200, 60, 40];
const flat = () =>
  sharp({ create: { width: 60, height: 60, channels: 3, background: 'rgb(200,60,40)' } });

/** The profile of Adobe RGB (1998), but for its gamma of 563/256: here are its primaries and white. */
function wideProfile(): Buffer {
  const s15 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(Math.round(value * 65_536));
    return bytes;
  };
  const xyz = (x: number, y: number, z: number) =>
    Buffer.concat([Buffer.from('XYZ \0\0\0\0', 'latin1'), s15(x), s15(y), s15(z)]);
  const curve = Buffer.from('curv\0\0\0\0\0\0\0\x01\x02\x33\0\0', 'latin1');
  const name = Buffer.from('desc\0\0\0\0\0\0\0\x05wide\0'.padEnd(104, '\0'), 'latin1');
  const text = Buffer.from('text\0\0\0\0none\0\0\0\0', 'latin1');
  const tags: readonly (readonly [string, Buffer])[] = [
    ['desc', name],
    ['cprt', text],
    ['wtpt', xyz(0.9642, 1, 0.8249)],
    ['rXYZ', xyz(0.60974, 0.31111, 0.01947)],
    ['gXYZ', xyz(0.20528, 0.62567, 0.06087)],
    ['bXYZ', xyz(0.14919, 0.06322, 0.74457)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const table = Buffer.alloc(4 + tags.length * 12);
  table.writeUInt32BE(tags.length);
  let offset = 128 + table.length;
  for (const [index, [tag, data]] of tags.entries()) {
    table.write(tag, 4 + index * 12, 'latin1');
    table.writeUInt32BE(offset, 8 + index * 12);
    table.writeUInt32BE(data.length, 12 + index * 12);
    offset += data.length;
  }
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset);
  header.writeUInt32BE(0x02_10_00_00, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  Buffer.concat([s15(0.9642), s15(1), s15(0.8249)]).copy(header, 68);
  return Buffer.concat([header, table, ...tags.map(([, data]) => data)]);
}

const folder = t.testdir({ 'wide.icc': wideProfile() });
const wide = await flat().withIccProfile(`${folder}/wide.icc`).png().toBuffer();
const p3 = await flat().withIccProfile('p3').png().toBuffer();
const sources: Readonly<Record<string, Uint8Array>> = {
  plain: await flat().png().toBuffer(),
  'Display P3': p3,
  'Display P3, JPEG': await flat().withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
  'Display P3, 16 bits': await flat().toColourspace('rgb16').withIccProfile('p3').png().toBuffer(),
  'Adobe RGB': wide,
  '16 bits': await flat().toColourspace('rgb16').png().toBuffer(),
  CMYK: await flat().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer(),
};

const watermark = {
  url: 'https://example.com/mark.png',
  position: 'northwest',
  opacity: 100,
  scale: 10,
  margin: 0,
} as const;
const manyPasses: Readonly<Record<string, Partial<Variant>>> = {
  'turned by any angle': { rotate: 10, width: 50 },
  'cropped and turned': { crop: { left: 5, top: 5, width: 40, height: 40 }, rotate: 90 },
  trimmed: { trim: 10 },
  opacity: { opacity: 1 },
  'a watermark': { watermark },
  blurred: { blur: 2 },
  normalized: { normalize: true },
  'filters apart': {
    modulate: { brightness: 1, saturation: 1, hue: 0, lightness: 0.001 },
    blur: 1,
  },
  'all of it': { rotate: 10, opacity: 1, watermark },
};

t.test('the sources have the expected colours', async (t) => {
  const stored = await sharp(wide, { ignoreIcc: true }).raw().toBuffer();
  t.notOk(near([...stored.subarray(0, 3)], colour, 10), 'Adobe RGB has numbers of its own');
  t.equal((await sharp(sources['CMYK']).metadata()).space, 'cmyk');
});

const mark = await plain(10, 10, [255, 255, 255]);

for (const [name, source] of Object.entries(sources)) {
  t.test(`${name}: colours are kept through several passes`, async (t) => {
    const tolerance = name === 'CMYK' ? 25 : 8;
    for (const [what, asked] of Object.entries(manyPasses)) {
      for (const format of ['png', 'jpeg'] as const) {
        const dropped = await drawn(source, { ...asked, formats: [format] }, mark);
        t.notOk((await dropped.header()).hasProfile, `${what}, ${format}: no profile`);
        const bare = await sharp(dropped.body, { ignoreIcc: true }).removeAlpha().raw().toBuffer();
        const middle = (dropped.width * (dropped.height >> 1) + (dropped.width >> 1)) * 3;
        t.ok(near([...bare.subarray(middle, middle + 3)], colour, tolerance), `${what}, ${format}`);
      }
      const kept = await drawn(source, { ...asked, stripMetadata: false }, mark);
      const { hasProfile } = await kept.header();
      t.equal(hasProfile, /P3|Adobe/.test(name), `${what}: has the source’s profile`);
      t.ok(
        near(kept.at(kept.width >> 1, kept.height >> 1), colour, tolerance),
        `${what}: and looks so`,
      );
    }
  });
}

t.test('an animation keeps its profile unless its frames are processed one by one', async (t) => {
  const other = await sharp({
    create: { width: 60, height: 60, channels: 3, background: 'blue' },
  })
    .withIccProfile('p3')
    .png()
    .toBuffer();
  const frames = sharp([Buffer.from(p3), other], { join: { animated: true } });
  const source = await frames
    .keepIccProfile()
    .webp({ lossless: true, delay: [50, 60] })
    .toBuffer();
  const passes: Readonly<Record<string, Partial<Variant>>> = {
    one: { width: 30 },
    turned: { rotate: 90 },
    blurred: { blur: 2 },
    faded: { opacity: 1 },
    marked: { watermark },
  };
  for (const [name, asked] of Object.entries(passes)) {
    const more = { formats: ['webp'], stripMetadata: false } as const;
    const made = await drawn(source, { ...asked, ...more }, mark);
    t.equal((await made.header()).pages, 2);
    t.equal((await made.header()).hasProfile, !['turned', 'blurred'].includes(name), name);
    t.ok(near(made.at(made.width >> 1, made.height >> 1), colour, 10), name);
  }
});

t.test('16 bits with a profile and an orientation are oriented once', async (t) => {
  const stored = sharp({ create: { width: 60, height: 40, channels: 3, background: '#c83c28' } });
  const source = await stored
    .toColourspace('rgb16')
    .withIccProfile('p3')
    .withMetadata({ orientation: 6 })
    .png()
    .toBuffer();
  for (const asked of [{}, { blur: 2 }, { rotate: 90 }, { opacity: 1 }]) {
    const made = await drawn(source, { ...asked, stripMetadata: false });
    t.same(made.size, 'rotate' in asked ? [60, 40] : [40, 60]);
    t.ok((await made.header()).hasProfile, 'profile');
    t.ok(near(made.at(9, 9), colour, 8), 'colour');
  }
});

t.test('colours added to a wide gamut are converted from sRGB', async (t) => {
  const added: Rgb = [30, 160, 220];
  const background = '#1ea0dcff';
  const clear = await sharp(p3).ensureAlpha(0).keepIccProfile().png().toBuffer();
  const blue = await plain(10, 10, added);
  const wides = { p3, wide, deep: sources['Display P3, 16 bits'] ?? p3, clear };
  const changes: Readonly<Record<string, Partial<Variant>>> = {
    extend: { extend: { top: 9, right: 9, bottom: 9, left: 9 }, background },
    contain: { width: 100, height: 50, fit: 'contain', background },
    'turned by any angle': { rotate: 45, background },
    'flattened and extended': {
      flatten: true,
      background,
      extend: { top: 9, right: 9, bottom: 9, left: 9 },
    },
    watermark: { watermark },
  };
  for (const [name, source] of Object.entries(wides)) {
    for (const [what, change] of Object.entries(changes)) {
      for (const format of ['png', 'jpeg', 'webp', 'avif'] as const) {
        const made = await drawn(source, { keepProfile: true, formats: [format], ...change }, blue);
        const { icc } = await made.header();
        t.ok(icc, `${name}, ${what}, ${format}: has a profile`);
        t.notOk((await made.header()).exif);
        // The borders are so thin that lossy encoders change their colour.
        const tolerance = format === 'png' ? 5 : 70;
        t.ok(
          near(made.at(2, 2), added, tolerance),
          `${name}, ${what}, ${format}: ${made.at(2, 2)}`,
        );
        const middle = made.at(made.width >> 1, made.height >> 1);
        const shown = name === 'clear' ? null : colour;
        t.ok(shown === null || near(middle, shown, 9), `${name}, ${what}: and the picture`);
      }
    }
    if (name === 'clear') continue;
    const luminance = await drawn(source, { keepProfile: true, tint: '#c83c28ff' });
    t.ok(near(luminance.at(9, 9), colour, 14), `${name}: tint ${luminance.at(9, 9)}`);
  }
});

t.test('colours outside of sRGB are kept in formats with profiles', async (t) => {
  const red = sharp({ create: { width: 20, height: 20, channels: 3, background: '#ff0000' } });
  const stored = await red.withIccProfile('p3').png().toBuffer();
  // The numbers of the strongest red of P3, under its profile.
  const numbers = Buffer.alloc(20 * 20 * 3, Buffer.from([255, 0, 0]));
  const widest = await sharp(stored)
    .keepIccProfile()
    .composite([{ input: numbers, raw: { width: 20, height: 20, channels: 3 } }])
    .png()
    .toBuffer();
  for (const format of ['png', 'jpeg', 'webp', 'avif', 'gif'] as const) {
    const made = await drawn(widest, { keepProfile: true, formats: [format], width: 10 });
    const { icc } = await sharp(made.body).metadata();
    t.equal(icc !== undefined, format !== 'gif', format);
    const raw = await sharp(made.body, { ignoreIcc: true }).removeAlpha().raw().toBuffer();
    t.ok(near([...raw.subarray(0, 3)], [255, 0, 0], 6), `${format}: ${[...raw.subarray(0, 3)]}`);
  }
  const narrow = await drawn(p3, { keepProfile: true, formats: ['gif'] });
  t.ok(near(narrow.at(5, 5), colour, 10), 'a GIF has the colours of sRGB');
});
