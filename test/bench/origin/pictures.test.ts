import sharp from 'sharp';
import t from 'tap';
import {
  type PictureName,
  picture,
  pictureNames,
  pictures,
  typeOf,
} from '../../../bench/origin/pictures.ts';

/** Pixels of one frame, after the EXIF orientation is applied. */
const sizes: Readonly<Record<PictureName, readonly [width: number, height: number]>> = {
  'landscape.jpg': [2725, 2225],
  'coast.jpg': [2160, 1440],
  'bokeh.webp': [2000, 1333],
  'lantern.png': [1600, 2000],
  'portrait-rotated.jpg': [1800, 2400],
  'pulse.gif': [420, 420],
  'emblem.svg': [800, 800],
};

t.test('every picture has its format, its size and many colours', async (t) => {
  for (const name of pictureNames) {
    const file = await picture(name);
    const { format, autoOrient } = await sharp(file).metadata();
    t.equal(format, typeOf(name).replace('image/', '').replace('+xml', ''), name);
    t.same([autoOrient.width, autoOrient.height], sizes[name], name);
    t.ok(pictures[name].length > 5);
    const { channels } = await sharp(file).stats();
    const deviations = channels.slice(0, 3).map(({ stdev }) => stdev);
    t.ok(Math.min(...deviations) > 15, `${name}: ${deviations}`);
  }
});

t.test('landscape.jpg is a large JPEG with the EXIF of a camera', async (t) => {
  const file = await picture('landscape.jpg');
  t.ok(file.length > 500_000, `${file.length} bytes, as a photograph has`);
  const exif = (await sharp(file).metadata()).exif?.toString('latin1') ?? '';
  for (const part of ['Sample', 'Procedural One', '2024:09:21 19:24:08']) t.match(exif, part);
});

t.test('lantern.png has alpha from transparent to opaque', async (t) => {
  const data = await sharp(await picture('lantern.png'))
    .extractChannel('alpha')
    .raw()
    .toBuffer();
  const alphas = new Set(data);
  t.ok(alphas.has(0) && alphas.has(255) && alphas.size > 150, `${alphas.size} levels`);
  t.equal(data[0], 0, 'the corner is transparent');
});

t.test('portrait-rotated.jpg is stored on its side with EXIF orientation 6', async (t) => {
  const file = await picture('portrait-rotated.jpg');
  const { width, height, orientation } = await sharp(file).metadata();
  t.same([width, height, orientation], [2400, 1800, 6]);
  const upright = await sharp(file).autoOrient().toBuffer();
  const blueAt = async (top: number): Promise<number> => {
    const strip = sharp(upright).extract({ left: 0, top, width: 1800, height: 200 });
    const { channels } = await sharp(await strip.toBuffer()).stats();
    return channels[2]?.mean ?? Number.NaN;
  };
  const [sky, ground] = [await blueAt(0), await blueAt(2200)];
  t.ok(sky > 2 * ground, `bright sky at the top, dark hills at the bottom: ${sky}, ${ground}`);
});

t.test('pulse.gif is an endless animation of frames that differ', async (t) => {
  const file = await picture('pulse.gif');
  const { pages = 0, loop, delay, pageHeight } = await sharp(file, { animated: true }).metadata();
  t.ok(pages >= 12, `${pages} frames`);
  t.same([loop, pageHeight], [0, 420]);
  t.ok(delay?.every((ms) => ms > 20 && ms < 150));
  const frame = (page: number) => sharp(file, { page }).removeAlpha().raw().toBuffer();
  t.notOk((await frame(0)).equals(await frame(1)));
});

t.test('emblem.svg has vectors only and no references', async (t) => {
  const text = (await picture('emblem.svg')).toString();
  t.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  t.notMatch(text, /<(text|image|script|use|foreignObject)|href|url\((?!#)/);
});
