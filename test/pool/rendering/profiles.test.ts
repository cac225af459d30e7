import { basename } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { matrixProfile } from '../../../pool/formats/metadata/written-profile.ts';
import type { Variant } from '../../../pool/variant.ts';
import { more } from '../../extended.ts';
import { be32, createPng, pngChunks } from '../../hostile/inputs/chunks.ts';
import { deepTiff } from '../../hostile/inputs/tiff.ts';
import { withCodes } from '../formats/colour-codes.ts';
import {
  adobeRgb,
  proPhoto,
  srgbPrimaries,
  srgbTable,
  withTable,
} from '../formats/matrix-profile.ts';
import { corners, drawn, plain } from './drawn.ts';
import { filled, modulation, near, noise, quarters, type Rgb, watermark } from './pictures.ts';

/** A colour of sRGB; its values in Display P3 are about 185, 71, 50. */
const colour: Rgb = [200, 60, 40];
const flat = (background = 'rgb(200,60,40)') => filled(60, 60, background);
const formats = ['jpeg', 'png', 'webp', 'avif', 'gif'] as const;

/** Returns the middle pixel's values, which viewers that ignore profiles show. */
async function stored(encoded: Uint8Array): Promise<number[]> {
  const image = sharp(encoded, { ignoreIcc: true }).removeAlpha().raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const at = (info.width * (info.height >> 1) + (info.width >> 1)) * info.channels;
  return [...data.subarray(at, at + 3)];
}

const folder = t.testdir({
  'wide.icc': adobeRgb,
  'widest.icc': proPhoto,
  'srgb.icc': withTable(matrixProfile(srgbPrimaries, [1]), srgbTable),
});
const wide = await flat().withIccProfile(`${folder}/wide.icc`).png().toBuffer();
const p3 = await flat().withIccProfile('p3').png().toBuffer();
const deep = await flat().toColourspace('rgb16').withIccProfile('p3').png().toBuffer();
const p3Avif = () => flat().withIccProfile('p3').avif({ quality: 95 }).toBuffer();
const sources: Readonly<Record<string, Uint8Array>> = {
  plain: await flat().png().toBuffer(),
  'Display P3': p3,
  'Display P3, JPEG': await flat().withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
  'Display P3, 16 bits': deep,
  'Display P3 by codes': withCodes(p3, 12, 13),
  'Display P3 by codes, 16 bits': withCodes(deep, 12, 13),
  'Display P3 by codes, AVIF': withCodes(await p3Avif(), 12, 13),
  'Adobe RGB': wide,
  'ProPhoto RGB': await flat().withIccProfile(`${folder}/widest.icc`).png().toBuffer(),
  '16 bits': await flat().toColourspace('rgb16').png().toBuffer(),
  CMYK: await flat().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer(),
};

const marked = { layers: watermark({ position: 'northwest', scale: 10 }) };
const changes: Readonly<Record<string, Partial<Variant>>> = {
  scaled: { width: 32 },
  'turned by any angle': { rotate: 10, width: 50 },
  'cropped and turned': { crop: { left: 5, top: 5, width: 40, height: 40 }, rotate: 90 },
  trimmed: { trim: 10 },
  opacity: { opacity: 1 },
  'with a watermark': marked,
  blurred: { blur: 2 },
  normalized: { normalize: true },
  'filtered in two passes': { modulate: { ...modulation, lightness: 0.001 }, blur: 1 },
  'in all passes': { rotate: 10, opacity: 1, ...marked },
};

/** The D65 white point and the primaries of Display P3. */
const chromaticities = Buffer.concat(
  [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000].map(be32),
);

const mark = await plain(10, 10, [255, 255, 255]);

t.test('uses sources with the expected colours', async (t) => {
  t.notOk(near(await stored(wide), colour, 10), 'Adobe RGB has other values');
  t.equal((await sharp(sources['CMYK']).metadata()).space, 'cmyk');
});

for (const [row, [name, source]] of Object.entries(sources).entries()) {
  /** `npm test` runs half of the pairs, in a chessboard pattern. */
  const ownChanges = Object.entries(changes).filter((_, index) => more || (index + row) % 2 === 0);
  t.test(`returns the source's colours (${name})`, async (t) => {
    const tolerance = name === 'CMYK' ? 25 : 8;
    for (const [change, options] of ownChanges) {
      for (const format of change === 'scaled' ? formats : (['png', 'jpeg'] as const)) {
        const label = `${change}, ${format}`;
        const stripped = await drawn(source, { ...options, formats: [format] }, mark);
        t.notOk((await stripped.header()).hasProfile, `${label}: no profile`);
        t.ok(near(await stored(stripped.body), colour, tolerance), `${label}: sRGB values`);

        if (format === 'gif') continue;
        const keep = { formats: [format], stripMetadata: false };
        const kept = await drawn(source, { ...options, ...keep }, mark);
        // The source itself, with its codes.
        if (Buffer.from(source).equals(kept.body)) continue;
        t.equal((await kept.header()).hasProfile, /P3|RGB/.test(name), `${label}: profile`);
        t.ok(near(kept.middle, colour, tolerance), `${label}: colour with the profile`);
      }
    }
  });
}

t.test('changes no colour for a profile that equals sRGB', async (t) => {
  const tagged = await noise(120, 90).withIccProfile(`${folder}/srgb.icc`).png().toBuffer();
  const bare = await sharp(tagged, { ignoreIcc: true }).png().toBuffer();
  for (const options of [{ width: 60 }, { rotate: 30 }, { trim: 10 }, { modulate: modulation }]) {
    const [first, other] = [await drawn(tagged, options), await drawn(bare, options)];
    t.ok(Buffer.from(first.body).equals(other.body), JSON.stringify(options));
  }
});

t.test('converts colours after scaling, close to a conversion before it', async (t) => {
  for (const profile of ['p3', `${folder}/wide.icc`, `${folder}/widest.icc`]) {
    const source = await noise(600, 450).blur(1).withIccProfile(profile).png().toBuffer();
    for (const options of [{ width: 200 }, { width: 200, rotate: 90 }, { width: 150, blur: 1 }]) {
      const { body } = await drawn(source, options);
      const converted = await sharp(source).png().toBuffer();
      const expected = await drawn(converted, options);
      const drawnPixels = await sharp(body).raw().toBuffer();
      const other = await sharp(expected.body).raw().toBuffer();
      const differences = drawnPixels.map((value, at) => Math.abs(value - (other[at] ?? 0)));
      const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
      t.ok(
        mean < 0.8,
        `${basename(profile)}, ${JSON.stringify(options)}: ${mean.toFixed(2)} levels`,
      );
    }
  }
});

t.test("keeps an animation's profile unless it processes frames separately", async (t) => {
  const other = await flat('blue').withIccProfile('p3').png().toBuffer();
  const frames = sharp([Buffer.from(p3), other], { join: { animated: true } });
  const source = await frames
    .keepIccProfile()
    .webp({ lossless: true, delay: [50, 60] })
    .toBuffer();
  const passes: Readonly<Record<string, Partial<Variant>>> = {
    scaled: { width: 30 },
    rotated: { rotate: 90 },
    blurred: { blur: 2 },
    opacity: { opacity: 1 },
    'with a watermark': marked,
  };
  for (const [name, options] of Object.entries(passes)) {
    const keep = { formats: ['webp'], stripMetadata: false } as const;
    const output = await drawn(source, { ...options, ...keep }, mark);
    const hasProfile = !['rotated', 'blurred'].includes(name);
    t.match(await output.header(), { pages: 2, hasProfile }, name);
    t.ok(near(output.middle, colour, 10), name);
    const converted = await drawn(source, { ...options, formats: ['webp'] }, mark);
    t.match(await converted.header(), { pages: 2, hasProfile: false }, `${name}, converted`);
    t.ok(near(converted.middle, colour, 10), `${name}, converted`);
  }
});

t.test('changes colours to the same result in every profile', async (t) => {
  const side = 64;
  const four = quarters(side, side).linear(0.6, 40);
  const pixels = sharp(await four.raw().toBuffer(), {
    raw: { width: side, height: side, channels: 3 },
  });
  const wideSource = await pixels.clone().withIccProfile('p3').png().toBuffer();
  const srgbSource = await sharp(wideSource).png().toBuffer();
  const changing: readonly Partial<Variant>[] = [
    { negate: true },
    { normalize: true },
    { gamma: 2.2, width: 40 },
    { tint: '#336699ff' },
    { modulate: { ...modulation, hue: 90 } },
    { modulate: { ...modulation, brightness: 1.5 } },
  ];
  for (const options of changing) {
    const [first, other] = [await drawn(wideSource, options), await drawn(srgbSource, options)];
    const found = [corners(first).flat(), corners(other).flat()] as const;
    t.ok(near(...found, 3), `${JSON.stringify(options)}: ${found.join(' and ')}`);
  }
});

t.test('draws an added background in its sRGB colour', async (t) => {
  for (const [name, options, at] of [
    ['contain', { width: 60, height: 30, fit: 'contain' }, [2, 15]],
    ['a border', { extend: { top: 5, left: 5, right: 5, bottom: 5 } }, [2, 2]],
    ['a turn', { rotate: 45 }, [2, 2]],
  ] as const) {
    for (const background of ['#c86428ff', '#ffffffff'] as const) {
      const { at: pixel } = await drawn(p3, { ...options, background });
      const expected = background === '#c86428ff' ? [200, 100, 40] : [255, 255, 255];
      t.strictSame(pixel(at[0], at[1]).slice(0, 3), expected, `${name}, ${background}`);
    }
  }
});

t.test('returns sRGB greys and no profile for an image that becomes grey', async (t) => {
  const grey = (await drawn(sources['plain'] ?? wide, { grayscale: true })).middle;
  const turns: readonly Partial<Variant>[] = [{}, { flip: true }, { rotate: 90 }, { width: 30 }];
  for (const [name, source] of Object.entries({ p3, wide, deep: sources['Display P3, 16 bits'] })) {
    for (const turn of turns) {
      for (const keep of [{ keepProfile: true }, { stripMetadata: false }]) {
        for (const format of ['png', 'jpeg'] as const) {
          const output = await drawn(source ?? p3, {
            ...turn,
            ...keep,
            grayscale: true,
            formats: [format],
          });
          const label = `${name}, ${format}, ${Object.keys({ ...turn, ...keep })}`;
          t.notOk((await output.header()).hasProfile, `${label}: no profile`);
          t.ok(near(output.middle, grey, 3), `${label}: ${output.middle}`);
        }
      }
    }
    const threshold = await drawn(source ?? p3, { keepProfile: true, threshold: 99, flip: true });
    t.notOk((await threshold.header()).hasProfile, `${name}, threshold`);
  }
});

t.test('applies an orientation once to 16 bits with a profile', async (t) => {
  const source = await flat()
    .resize(60, 40)
    .toColourspace('rgb16')
    .withIccProfile('p3')
    .withMetadata({ orientation: 6 })
    .png()
    .toBuffer();
  const { icc = Buffer.alloc(0) } = await sharp(source).metadata();
  const inP3 = await stored(source);
  const withSamples = deepTiff(icc, () => inP3);
  t.match(await sharp(withSamples).metadata(), { channels: 5, depth: 'ushort', orientation: 6 });
  for (const options of [{}, { blur: 2 }, { rotate: 90 }, { opacity: 1 }]) {
    for (const original of [source, withSamples]) {
      const output = await drawn(original, { ...options, stripMetadata: false });
      t.same(output.size, 'rotate' in options ? [60, 40] : [40, 60]);
      t.ok((await output.header()).hasProfile, 'profile');
      t.ok(near(output.at(9, 9), colour, 8), 'colour');
    }
  }
});

t.test('converts colours added to a wide gamut from sRGB', async (t) => {
  const added: Rgb = [30, 160, 220];
  const background = '#1ea0dcff';
  const border = { extend: { top: 9, right: 9, bottom: 9, left: 9 }, background } as const;
  const transparent = await sharp(p3).ensureAlpha(0).keepIccProfile().png().toBuffer();
  const blue = await plain(10, 10, added);
  const wideSources = { p3, wide, deep, transparent };
  const additions: Readonly<Record<string, Partial<Variant>>> = {
    extend: border,
    contain: { width: 100, height: 50, fit: 'contain', background },
    'rotated by any angle': { rotate: 45, background },
    'flattened and extended': { flatten: true, ...border },
    'with a watermark': marked,
  };
  for (const [name, source] of Object.entries(wideSources)) {
    for (const [what, options] of Object.entries(additions)) {
      for (const format of ['png', 'jpeg', 'webp', 'avif'] as const) {
        const keep = { keepProfile: true, formats: [format] };
        const output = await drawn(source, { ...keep, ...options }, blue);
        const label = `${name}, ${what}, ${format}`;
        t.match(await output.header(), { icc: Buffer, exif: undefined }, label);
        // The borders are so thin that lossy encoders change their colour.
        const corner = output.at(2, 2);
        t.ok(near(corner, added, format === 'png' ? 5 : 70), `${label}: ${corner}`);
        t.ok(name === 'transparent' || near(output.middle, colour, 9), `${label}: the image`);
      }
    }
    if (name === 'transparent') continue;
    const tinted = await drawn(source, { keepProfile: true, tint: '#c83c28ff' });
    t.ok(near(tinted.at(9, 9), colour, 14), `${name}: tint ${tinted.at(9, 9)}`);
  }
});

t.test('keeps colours outside sRGB in formats with profiles', async (t) => {
  const red: Rgb = [255, 0, 0];
  // The most saturated red of P3; sharp writes its values unconverted.
  const raw = { width: 60, height: 60, channels: 3 } as const;
  const source = await sharp(p3)
    .keepIccProfile()
    .composite([{ input: Buffer.alloc(60 * 60 * 3, Buffer.from(red)), raw }])
    .png()
    .toBuffer();
  for (const format of formats) {
    const output = await drawn(source, { keepProfile: true, formats: [format], width: 10 });
    t.equal((await output.header()).hasProfile, format !== 'gif', format);
    const values = await stored(output.body);
    t.ok(near(values, red), `${format}: ${values}`);
  }
  const gif = await drawn(p3, { keepProfile: true, formats: ['gif'] });
  t.ok(near(gif.at(5, 5), colour, 10), 'a GIF has the colours of sRGB');
});

t.test('reads colour codes as the profile that they stand for', async (t) => {
  const picture = await plain(20, 20, [230, 60, 60]);
  for (const [primaries, transfer, ...expected] of [
    [12, 13, 250, 31, 49],
    [9, 13, 255, 0, 50],
    [9, 1, 255, 0, 36],
    [1, 8, 244, 133, 133],
    [1, 13, 230, 60, 60],
    [2, 2, 230, 60, 60],
    [99, 13, 230, 60, 60],
  ] as const) {
    const { middle } = await drawn(withCodes(picture, primaries, transfer));
    t.ok(near(middle, expected, 1), `${primaries}, ${transfer}: ${middle}`);
  }
  const grey = await sharp(picture).toColourspace('b-w').png().toBuffer();
  t.same((await drawn(withCodes(grey, 9, 13))).middle, (await drawn(grey)).middle, 'grey');
  const video = (await drawn(withCodes(await p3Avif(), 12, 1))).middle;
  t.ok(near(video, colour, 8), 'the curve of sRGB for that of video in an AVIF');
  const untilEnd = withCodes(await p3Avif(), 12, 13);
  untilEnd.writeUInt32BE(0, untilEnd.indexOf('mdat') - 4);
  t.ok(near((await drawn(untilEnd)).middle, colour, 8), 'a box that ends with the file');
});

t.test('delivers an unchanged source with colour codes', async (t) => {
  const picture = noise(60, 60).withIccProfile('p3');
  for (const [format, encoded] of [
    ['png', picture.clone().png({ compressionLevel: 9 })],
    ['avif', picture.clone().avif({ quality: 40 })],
  ] as const) {
    const source = withCodes(await encoded.toBuffer(), 12, 13);
    const options = { formats: [format], quality: 100 };
    const { body } = await drawn(source, { ...options, stripMetadata: false });
    t.ok(source.equals(body), format);
    t.notOk(source.equals((await drawn(source, options)).body), `${format}: sRGB if stripped`);
  }
});

/**
 * A grey AVIF (`4:0:0`) of the limited range, made with libavif: four 8-pixel bars with 0, 64, 128
 * and 255.
 */
const limitedGrey = Buffer.from(
  'AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOltZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAA' +
    'AAABAAAAHmlsb2MAAAAARAAAAQABAAAAAQAAAQ0AAAAiAAAAKGlpbmYAAAAAAAEAAAAaaW5mZQIAAAAAAQAAYXYwMUNvbG9yAAAAAGhpcHJw' +
    'AAAASWlwY28AAAAUaXNwZQAAAAAAAAAgAAAACAAAAA5waXhpAAAAAAEIAAAADGF2MUOBABwAAAAAE2NvbHJuY2x4AAEADQAGAAAAABdpcG1h' +
    'AAAAAAAAAAEAAQQBAoMEAAAAKm1kYXQSAAoIGBC/2GAhoMQyFBAAoyD+PRqUwsu83pkUiTq4sCxw',
  'base64',
);

t.test('expands greys of the limited range in an AVIF', async (t) => {
  const codes = limitedGrey.indexOf('nclx') + 4;
  const full = Buffer.from(limitedGrey);
  full[codes + 6] = 0x80;
  for (const [name, source, greys] of [
    ['16 to 235', limitedGrey, [0, 64, 128, 255]],
    ['0 to 255', full, [16, 71, 126, 235]],
  ] as const) {
    for (const changes of [
      {},
      { width: 32, height: 4, fit: 'fill' },
      { rotate: 180, opacity: 1 },
    ] as const) {
      const { at } = await drawn(source, { ...changes, formats: ['png'] });
      const shown = 'rotate' in changes ? greys.toReversed() : greys;
      for (const [bar, grey] of shown.entries()) {
        const seen = at(8 * bar + 4, 1);
        t.ok(near(seen, [grey, grey, grey], 1), `${name}, ${bar}`, { seen, changes });
      }
    }
  }
});

/**
 * A pixel's red, green and blue in Chromium 156, by the chunks of a PNG with the pixel values 30,
 * 60, 120.
 */
const pngChunksByColour: readonly (readonly [Rgb, Readonly<Record<string, Buffer>>])[] = [
  [[30, 60, 120], { gAMA: be32(45_455) }],
  [[30, 60, 120], { gAMA: be32(43_500) }],
  [[31, 67, 130], { gAMA: be32(50_000) }],
  [[96, 133, 183], { gAMA: be32(100_000) }],
  [[30, 60, 120], { gAMA: be32(100_000), sRGB: Buffer.of(0) }],
  [[30, 60, 120], { gAMA: be32(0) }],
  [[30, 60, 120], { gAMA: Buffer.of(1) }],
  [[30, 60, 120], { cHRM: chromaticities }],
  [[6, 58, 125], { gAMA: be32(45_455), cHRM: chromaticities }],
  [[85, 134, 187], { gAMA: be32(100_000), cHRM: chromaticities }],
  [[30, 60, 120], { gAMA: be32(100_000), cHRM: Buffer.alloc(32) }],
  [[18, 49, 113], { cICP: Buffer.of(1, 1, 0, 1) }],
  [[18, 49, 113], { cICP: Buffer.of(1, 6, 0, 1), gAMA: be32(100_000) }],
  [[0, 51, 118], { cICP: Buffer.of(9, 14, 0, 1) }],
  [[48, 77, 134], { cICP: Buffer.of(1, 7, 0, 1) }],
  [[13, 44, 109], { cICP: Buffer.of(1, 17, 0, 1) }],
];

t.test('applies the gamma, primaries and codes of a PNG', async (t) => {
  const png = await flat('rgb(30,60,120)').png().toBuffer();
  for (const [expected, chunks] of pngChunksByColour) {
    const source = pngWithChunks(png, chunks);
    for (const options of [{}, { width: 32, sharpen: 0.001, rotate: 90 }]) {
      const { body } = await drawn(source, options);
      t.ok(near(await stored(body), expected, 1), `${Object.keys(chunks)}: ${expected}`);
    }
  }
  const both = pngWithChunks(p3, { cICP: Buffer.of(1, 13, 0, 1) });
  const values = await stored(p3);
  t.ok(near(await stored((await drawn(both)).body), values, 1), 'codes replace a profile');
  const grey = await flat('rgb(60,60,60)').toColourspace('b-w').png().toBuffer();
  for (const [level, chunks] of [
    [133, { gAMA: be32(100_000) }],
    [133, { gAMA: be32(100_000), cHRM: chromaticities }],
    [49, { cICP: Buffer.of(1, 1, 0, 1) }],
  ] as const) {
    const { body } = await drawn(pngWithChunks(grey, chunks), { width: 32 });
    t.ok(near(await stored(body), [level, level, level], 1), `grey, ${Object.keys(chunks)}`);
  }
});

/** Returns a PNG with chunks in front of its pixels. */
function pngWithChunks(png: Buffer, added: Readonly<Record<string, Buffer>>): Buffer {
  const [header, ...rest] = pngChunks(png);
  if (header === undefined) throw new Error('no PNG');
  return createPng([
    header,
    ...Object.entries(added).map(([type, data]) => ({ type, data })),
    ...rest,
  ]);
}

t.test('draws CMYK that lacks a profile in the colours of browsers', async (t) => {
  const colours = [colour, [255, 255, 255], [0, 0, 0], [20, 90, 200], [240, 230, 60]] as const;
  for (const [r, g, b] of colours) {
    const image = flat(`rgb(${r},${g},${b})`).toColourspace('cmyk');
    const jpeg = await image.jpeg({ quality: 100 }).toBuffer();
    const raw = sharp(jpeg).pipelineColourspace('cmyk').toColourspace('cmyk').raw();
    const [cyan = 0, magenta = 0, yellow = 0, black = 0] = await raw.toBuffer();
    const expected = [cyan, magenta, yellow].map((ink) => ((255 - ink) * (255 - black)) / 255);
    const wrong = await withProfile(jpeg, await flat().withIccProfile('srgb').jpeg().toBuffer());
    const tiff = await image.clone().tiff({ compression: 'none' }).toBuffer();
    for (const source of [jpeg, wrong, tiff]) {
      const { body } = await drawn(source, { width: 32 });
      t.ok(near(await stored(body), expected, 1), `${expected}`);
    }
  }
});

/** Returns a JPEG with another JPEG's profile. */
async function withProfile(jpeg: Buffer, other: Buffer): Promise<Buffer> {
  const { icc = Buffer.of() } = await sharp(other).metadata();
  const head = Buffer.from('\xff\xe2\0\0ICC_PROFILE\0\x01\x01', 'latin1');
  head.writeUInt16BE(head.length - 2 + icc.length, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, icc, jpeg.subarray(2)]);
}
