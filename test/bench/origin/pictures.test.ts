import sharp, { type Metadata } from 'sharp';
import t from 'tap';
import { mediaTypeOf, type PictureName, picture } from '../../../bench/origin/pictures.ts';

/** What the demo, the gallery and the benchmarks need of each picture. */
const properties: Readonly<Record<PictureName, Partial<Metadata>>> = {
  'landscape.jpg': { format: 'jpeg', width: 2725, height: 2225 },
  'coast.jpg': { format: 'jpeg', width: 2160, height: 1440 },
  'bokeh.webp': { format: 'webp', width: 2000, height: 1333 },
  'lantern.png': { format: 'png', width: 1600, height: 2000, hasAlpha: true },
  'portrait-rotated.jpg': { format: 'jpeg', width: 2400, height: 1800, orientation: 6 },
  'pulse.gif': { format: 'gif', width: 420, height: 420, pages: 20, loop: 0 },
  'emblem.svg': { format: 'svg', width: 800, height: 800 },
};

t.test('every picture has its format, its size and many colours', async (t) => {
  for (const [name, expected] of Object.entries(properties) as [PictureName, Metadata][]) {
    const file = await picture(name);
    t.match(await sharp(file).metadata(), expected, name);
    t.equal(mediaTypeOf(name).replace('image/', '').replace('+xml', ''), expected.format, name);
    const { channels } = await sharp(file).stats();
    const deviations = channels.slice(0, 3).map(({ stdev }) => stdev);
    t.ok(Math.min(...deviations) > 15, `${name}: ${deviations}`);
  }
});

t.test('lantern.png has alpha from transparent to opaque', async (t) => {
  const alpha = sharp(await picture('lantern.png')).extractChannel('alpha');
  const levels = new Set(await alpha.raw().toBuffer());
  t.ok(levels.has(0) && levels.has(255) && levels.size > 150, `${levels.size} levels`);
});
