import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';

/**
 * Defects of sharp 0.35 and libvips 8.18 that the service works around, each as small as it can be. A
 * test that fails tells that one is mended, and which code can go.
 */

const plain = (space: 'srgb' | 'b-w') =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: '#808080' } })
    .toColourspace(space)
    .png()
    .toBuffer();
const firstPixel = async (image: Sharp): Promise<number[]> =>
  [...(await image.raw().toBuffer())].slice(0, 3);

const isGrey = ([r, g, b]: readonly number[]) => r === g && g === b;

t.test('colours that are added to grey pixels are grey: `coloured` in plan.ts', async (t) => {
  const background = '#ff8000';
  const grey = await plain('b-w');
  const clear = await sharp(grey).ensureAlpha(0).toColourspace('b-w').png().toBuffer();
  const added = {
    extend: sharp(grey).extend({ left: 2, background }),
    contain: sharp(grey).resize({ width: 16, height: 8, fit: 'contain', background }),
    tint: sharp(grey).tint(background),
    flatten: sharp(clear).flatten({ background }),
    'tint of what was made grey': sharp(await plain('srgb'))
      .grayscale()
      .tint(background),
  };
  for (const [name, image] of Object.entries(added)) t.ok(isGrey(await firstPixel(image)), name);
});

t.test('an AVIF with the brand of sequences is not opened: `withImageBrand`', async (t) => {
  const file = await sharp(await plain('srgb'))
    .avif()
    .toBuffer();
  file.write('avis', 8, 'latin1');
  await t.rejects(sharp(file).metadata());
});

t.test('CICP is ignored: `requireShownColours` in hdr.ts', async (t) => {
  const file = await plain('srgb');
  const pq = Buffer.from('\0\0\0\x04cICP\x09\x10\0\x01\0\0\0\0', 'latin1');
  pq.writeUInt32BE(crc32(pq.subarray(4, 12)), 12);
  const hdr = Buffer.concat([file.subarray(0, 33), pq, file.subarray(33)]);
  t.same(await firstPixel(sharp(hdr)), [128, 128, 128], 'the code values of PQ, as if of sRGB');
});

t.test('twice the density makes an inch four times as long: svg/size.ts', async (t) => {
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1in" height="1in"/>');
  const width = async (density: number) => (await sharp(drawing, { density }).metadata()).width;
  t.same([await width(72), await width(144)], [72, 288]);
});

t.test('a TIFF has no EXIF: `keepsExif` in picture.ts', async (t) => {
  const tagged = sharp(await plain('srgb')).withExif({ IFD0: { Copyright: 'me' } });
  t.notOk((await tagged.tiff().toBuffer()).includes('me\0'));
});
