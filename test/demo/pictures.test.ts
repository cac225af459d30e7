import readExif from 'exif-reader';
import sharp, { type Metadata } from 'sharp';
import t from 'tap';
import { jpeg422, withExif } from '../../demo/origin/jpeg.ts';
import { type PictureName, picture, toMediaType } from '../../demo/origin/pictures.ts';

/** Properties that the demo, the gallery and the benchmarks require of each image. */
const properties: Readonly<Record<PictureName, Partial<Metadata>>> = {
  'landscape.jpg': { format: 'jpeg', width: 2725, height: 2225 },
  'coast.jpg': { format: 'jpeg', width: 2160, height: 1440 },
  'bokeh.webp': { format: 'webp', width: 2000, height: 1333 },
  'lantern.png': { format: 'png', width: 1600, height: 2000, hasAlpha: true },
  'portrait-rotated.jpg': { format: 'jpeg', width: 2400, height: 1800, orientation: 6 },
  'pulse.gif': { format: 'gif', width: 420, height: 420, pages: 20, loop: 0 },
  'emblem.svg': { format: 'svg', width: 800, height: 800 },
};

t.test('creates every image in its format and size, with many colours', async (t) => {
  for (const [name, expected] of Object.entries(properties) as [PictureName, Metadata][]) {
    const file = await picture(name);
    t.match(await sharp(file).metadata(), expected, name);
    t.equal(toMediaType(name).replace('image/', '').replace('+xml', ''), expected.format, name);
    const { channels } = await sharp(file).stats();
    const deviations = channels.slice(0, 3).map(({ stdev }) => stdev);
    t.ok(Math.min(...deviations) > 15, `${name}: ${deviations}`);
  }
});

t.test('draws lantern.png with alpha from transparent to opaque', async (t) => {
  const alpha = sharp(await picture('lantern.png')).extractChannel('alpha');
  const levels = new Set(await alpha.raw().toBuffer());
  t.ok(levels.has(0) && levels.has(255) && levels.size > 150, `${levels.size} levels`);
});

t.test('writes a JPEG with 4:2:2, one scan, and the pixels', async (t) => {
  const size = { width: 320, height: 200 };
  const image = sharp(await picture('coast.jpg')).resize({ ...size, fit: 'fill' });
  const data = await image.raw().toBuffer();
  const jpeg = await jpeg422({ ...size, data }, 90);
  const frame = jpeg.indexOf(Buffer.of(0xff, 0xc0));
  const factors = [1, 2, 3].map((component) => jpeg[frame + 8 + 3 * component]);
  t.same(factors, [0x21, 0x11, 0x11]);
  const scan = Buffer.of(0xff, 0xda);
  t.equal(jpeg.indexOf(scan), jpeg.lastIndexOf(scan));
  const decoded = (file: Buffer) => sharp(file, { failOn: 'warning' }).raw().toBuffer();
  const toError = (pixels: Buffer) =>
    pixels.reduce((sum, value, at) => sum + Math.abs(value - (data[at] ?? 0)), 0) / data.length;
  const [own, half] = await Promise.all([
    decoded(jpeg),
    decoded(await image.jpeg({ quality: 90, chromaSubsampling: '4:2:0' }).toBuffer()),
  ]);
  t.ok(toError(own) < toError(half), `${toError(own)}, with 4:2:0 ${toError(half)}`);
});

t.test('writes camera EXIF with an orientation, a note and a thumbnail', async (t) => {
  const image = sharp(await picture('coast.jpg')).resize(160);
  const [jpeg, thumbnail] = [
    await image.jpeg().toBuffer(),
    await image.resize(40).jpeg().toBuffer(),
  ];
  const file = withExif(jpeg, { orientation: 8, thumbnail, noteBytes: 60_000 });
  const { exif = Buffer.of(), ...facts } = await sharp(file, { failOn: 'warning' }).metadata();
  t.match(facts, { orientation: 8, autoOrient: { width: 107, height: 160 } });
  const { Photo, Thumbnail } = readExif(exif);
  t.equal(Photo?.MakerNote?.length, 60_000);
  const { JPEGInterchangeFormat: at = 0, JPEGInterchangeFormatLength: length = 0 } =
    Thumbnail ?? {};
  const tiff = exif.subarray('Exif__'.length);
  t.ok(tiff.subarray(Number(at), Number(at) + Number(length)).equals(thumbnail));
});
