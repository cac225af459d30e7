import sharp from 'sharp';
import t from 'tap';
import { allNear, corners, drawn, plain, rendered } from './drawn.ts';
import { blue, green, near, quarters, type Rgb, red, yellow } from './pictures.ts';

const white: Rgb = [255, 255, 255];
const border = { top: 10, right: 20, bottom: 30, left: 40 };
const framed = (background: string) => quarters(60, 40).extend({ ...border, background });
const quartersOfAll = [red, green, blue, yellow] as const;

t.test('removes borders of a single colour', async (t) => {
  for (const background of ['white', 'black', 'transparent']) {
    const source = await framed(background).png().toBuffer();
    const output = await drawn(source, { trim: 10 });
    t.same(output.size, [60, 40], background);
    t.ok(allNear(corners(output, 0), quartersOfAll), background);
  }
});

t.test('resizes, rotates and extends a trimmed image', async (t) => {
  const source = await framed('white').png().toBuffer();
  const small = await drawn(source, { trim: 10, width: 30 });
  t.same(small.size, [30, 20]);
  const turned = await drawn(source, { trim: 10, rotate: 90 });
  t.same(turned.size, [40, 60]);
  t.ok(allNear(corners(turned), [blue, red, yellow, green]));
  const extended = await drawn(source, {
    trim: 10,
    extend: { top: 1, right: 2, bottom: 3, left: 4 },
  });
  t.same(extended.size, [66, 44]);
});

t.test('uses the threshold as the maximum difference between border colours', async (t) => {
  const inner = await framed('#f0f0f0').png().toBuffer();
  const source = await sharp(inner)
    .extend({ top: 9, left: 9, background: 'white' })
    .png()
    .toBuffer();
  t.same((await drawn(source, { trim: 5 })).size, [120, 80], 'the outer border alone');
  t.same((await drawn(source, { trim: 20 })).size, [60, 40], 'both');
});

t.test('uses the same threshold for 16 bits', async (t) => {
  const inner = await framed('#fafafa').png().toBuffer();
  const outer = sharp(inner).extend({ top: 9, left: 9, background: 'white' });
  const deep = await outer.toColourspace('rgb16').png().toBuffer();
  t.same((await drawn(deep, { trim: 20 })).size, [60, 40]);
});

t.test('does not trim borderless images', async (t) => {
  const bare = await quarters(60, 40).png().toBuffer();
  t.same((await drawn(await plain(50, 30, red), { trim: 10 })).size, [50, 30], 'one colour');
  t.same((await drawn(await plain(50, 30, red, 0), { trim: 10 })).size, [50, 30], 'clear');
  t.same((await drawn(bare, { trim: 0, width: 30 })).size, [30, 20], 'no border');
  const row = await sharp(bare).extract({ left: 0, top: 0, width: 60, height: 1 }).toBuffer();
  t.same((await drawn(row, { trim: 10 })).size, [60, 1], 'too small to have a border');
  const column = await sharp(row).rotate(90).toBuffer();
  t.same((await drawn(column, { trim: 10 })).size, [1, 60]);
  t.same((await drawn(await plain(2, 2, red), { trim: 10 })).size, [2, 2]);
});

t.test('trims the crop', async (t) => {
  const source = await framed('white').png().toBuffer();
  const crop = { left: 0, top: 0, width: 70, height: 80 };
  const output = await drawn(source, { crop, trim: 10 });
  t.same(output.size, [30, 40]);
  t.ok(allNear(corners(output), [red, red, blue, blue]));
  const blank = { left: 2, top: 2, width: 30, height: 6 };
  const none = await drawn(source, { crop: blank, trim: 10 });
  t.same(none.size, [30, 6]);
  t.ok(near(none.at(0, 0), white));
});

t.test('trims the upright image', async (t) => {
  const stored = await framed('white').png().toBuffer();
  const source = await sharp(stored).withMetadata({ orientation: 6 }).png().toBuffer();
  const output = await drawn(source, { trim: 10 });
  t.same(output.size, [40, 60]);
  t.ok(allNear(corners(output), [blue, red, yellow, green]));
  const crop = { left: 0, top: 0, width: 80, height: 70 };
  const part = await drawn(source, { crop, trim: 10 });
  t.same(part.size, [40, 30]);
  t.ok(allNear(corners(part), [blue, red, blue, red]));
});

t.test('trims a large image to within a few pixels and does not cut the content', async (t) => {
  const source = await quarters(3600, 2400)
    .extend({ top: 203, right: 7, bottom: 2, left: 401, background: 'white' })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const { width, height } = await drawn(source, { trim: 10, formats: ['jpeg'], quality: 1 });
  t.ok(width >= 3600 && width <= 3604, `${width} wide`);
  t.ok(height >= 2400 && height <= 2404, `${height} high`);
});

t.test('trims an SVG with parts of pixels to its whole pixels', async (t) => {
  const circle = '<circle r="9"/>';
  const source = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width=".4in" viewBox="0 0 7.3 2.6">${circle}</svg>`,
  );
  const output = await rendered(source, { trim: 7 });
  const { width, height } = await sharp(output.body).metadata();
  t.same([output.width, output.height], [width, height]);
  t.same([width, height], [38, 14], 'the size without trim');
});
