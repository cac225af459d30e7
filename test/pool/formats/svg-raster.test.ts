import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { drawn, plain } from '../rendering/drawn.ts';
import { blue, green, near, type Rgb, red, watermark, yellow } from '../rendering/pictures.ts';

const clear = [0, 0, 0, 0];

const svg = (inner: string, width: number, height: number) =>
  Buffer.from(svgOf(inner, `width="${width}" height="${height}"`));

const square = (x: number, y: number, [r, g, b]: Rgb) =>
  `<rect x="${x}" y="${y}" width="20" height="10" fill="rgb(${r},${g},${b})"/>`;
const upper = square(0, 0, red) + square(20, 0, green);
const squares = svg(upper + square(0, 10, blue) + square(20, 10, yellow), 40, 20);
const small = svg('<rect x="10" y="5" width="20" height="10" fill="red"/>', 40, 20);

/** Returns true if red becomes green between two neighbouring pixels. */
function sharpEdge({ at }: { at: (x: number, y: number) => number[] }, x: number, y: number) {
  return near(at(x - 1, y), red, 2) && near(at(x, y), green, 2);
}

t.test('draws sharp edges at the output size', async (t) => {
  const cases: readonly (readonly [Partial<Variant>, readonly [number, number], number])[] = [
    [{ width: 400 }, [400, 200], 200],
    [{ crop: { left: 10, top: 0, width: 20, height: 10 }, width: 400 }, [400, 200], 200],
    [{ crop: { left: 19, top: 0, width: 2, height: 10 }, width: 60 }, [60, 300], 30],
    [{ width: 300, height: 300, fit: 'cover' }, [300, 300], 150],
    [{ width: 400, opacity: 1 }, [400, 200], 200],
    [{ width: 400, rotate: 180, flip: true, flop: true }, [400, 200], 200],
  ];
  for (const [options, size, edge] of cases) {
    const output = await drawn(squares, options);
    t.same(output.size, size);
    t.ok(sharpEdge(output, edge, 4), JSON.stringify(options));
  }
});

t.test('trims an SVG in its own units before it rasterises it', async (t) => {
  const output = await drawn(small, { trim: 10, width: 400 });
  t.same(output.size, [400, 200]);
  t.ok(near(output.at(0, 0), [...red, 255], 2) && near(output.at(399, 199), [...red, 255], 2));
  const crop = { left: 20, top: 0, width: 20, height: 20 };
  t.same((await drawn(small, { crop, trim: 10, width: 100 })).size, [100, 100]);
});

t.test('rotates an SVG by any angle', async (t) => {
  const output = await drawn(squares, { rotate: 45, width: 300 });
  t.same(output.size, [300, 300]);
  t.ok(near(output.at(3, 3), clear));
  t.ok(
    near(output.at(150, 100), [...red, 255], 2) || near(output.at(150, 100), [...green, 255], 2),
  );
});

t.test('applies a watermark to an SVG', async (t) => {
  const white: Rgb = [255, 255, 255];
  const options = { width: 400, layers: watermark({ position: 'northwest', scale: 10 }) };
  const { at } = await drawn(squares, options, await plain(9, 9, white));
  t.ok(near(at(39, 39), white, 2) && near(at(40, 39), red, 2));
});

t.test('enlarges a crop at most as far as it could enlarge the whole SVG', async (t) => {
  const crop = { left: 20, top: 10, width: 1, height: 1 };
  const output = await drawn(squares, { crop, width: 10_000, enlarge: true });
  t.same(output.size, [224, 224]);
  t.ok(near(output.at(0, 0), yellow, 2));
});

t.test('trims a huge SVG at a smaller size', async (t) => {
  const inner = '<rect x="25%" y="25%" width="50%" height="50%" fill="red"/>';
  for (const side of [20_000, 200_000]) {
    const huge = svg(inner, side, side / 2);
    t.same((await drawn(huge, { width: 100 })).size, [100, 50]);
    const output = await drawn(huge, { width: 100, trim: 10 });
    t.same(output.size, [100, 50]);
    t.ok(near(output.at(50, 25), red) && near(output.at(3, 3), red, 40), 'without its borders');
    const crop = { left: side / 4, top: 0, width: side / 2, height: side / 4 };
    const half = await drawn(huge, { width: 100, crop });
    t.same(half.size, [100, 50]);
    t.ok(near(half.at(50, 10), clear) && near(half.at(50, 40), red));
  }
});

t.test('rejects an SVG as too large if no raster size fits', async (t) => {
  const rect = '<rect width="9" height="9"/>';
  for (const huge of [svg(rect, 70_000_000, 10), svg(rect, 100_000, 1)]) {
    for (const options of [{ width: 10 }, { trim: 10 }]) {
      await t.rejects(drawn(huge, options), { code: 'source_too_large' });
    }
  }
  t.same((await drawn(svg('', 30_000, 1), { width: 300 })).size, [300, 1], 'a narrow one');
});

const island = '<rect x="25%" y="25%" width="50%" height="50%" fill="red"/>';
const inner = '<rect width="50%" height="100%" fill="red"/>';
const sized = (attributes: string, content = inner) => Buffer.from(svgOf(content, attributes));

t.test('converts a CSS pixel to 1/96 inch, and accepts fractional sizes', async (t) => {
  const sizes: readonly (readonly [string, readonly [number, number]])[] = [
    ['width="2in" height="1in"', [192, 96]],
    ['width="150pt" height="75pt"', [200, 100]],
    ['width="50.8mm" height="2.54cm"', [192, 96]],
    ['width="12pc" height="6pc"', [192, 96]],
    ["width='2IN' height = '1e2'", [192, 100]],
    ['viewBox="0 0 100.4 50.2"', [100, 50]],
    ['width="100%" viewBox="-5,-5 80.4,40.2"', [80, 40]],
    ['width="60pt" viewBox="0 0 300 150"', [80, 40]],
    ['width="10em" height="5em"', [160, 80]],
    ['width="100" height="50" style="width:9px; height: 9px"', [100, 50]],
    ['width="1.5" height="0.6"', [2, 1]],
  ];
  for (const [attributes, [width, height]] of sizes) {
    const drawing = sized(attributes);
    t.same((await drawn(drawing)).size, [width, height], attributes);
    const large = await drawn(drawing, { width: 3000 });
    t.ok(Math.abs(large.height - (3000 * height) / width) <= 3000 / width, 'the aspect ratio');
    if (attributes.includes('-5')) continue;
    t.ok(near(large.at(1497, 9), red, 5) && near(large.at(1503, 9), clear, 5), 'the content');
    const cropped = await drawn(drawing, { crop: { left: 0, top: 0, width: 9999, height: 9999 } });
    t.same(cropped.size, [width, height]);
    const trimmed = await drawn(sized(attributes, island), { trim: 10 });
    t.ok(Math.abs(trimmed.width - width / 2) <= 1.5, 'without its borders');
  }
});

t.test('sizes an SVG like an <img> in a browser', async (t) => {
  const box = 'viewBox="0 0 30 20"';
  const sizes: readonly (readonly [string, number, number])[] = [
    ['', 300, 150],
    ['width="40"', 40, 150],
    ['height="40"', 300, 40],
    ['width="50%" height="40"', 300, 40],
    ['width="abc" height="40"', 300, 40],
    ['style="width:100px"', 300, 150],
    ['viewBox="0 0 0 20"', 300, 150],
    ['viewBox="30 20"', 300, 150],
    ['width="10ch" height="5rem"', 80, 80],
    ['width="10em" height="5em" font-size="20"', 200, 100],
    ['width="10em" height="5em" font-size="9" style="font-size: 15pt"', 200, 100],
    [`width="40q" height="40Q" ${box}`, 38, 38],
    [`${box} width="60"`, 60, 40],
    [`${box} width="60" preserveAspectRatio="none"`, 60, 150],
    [`${box} height="60"`, 90, 60],
    [`${box} width="50%" height="100"`, 150, 100],
    [`${box} width="10em"`, 160, 107],
    [`${box} width="100%" style="max-width: 90px"`, 30, 20],
    [`${box} width="auto" height="auto"`, 30, 20],
  ];
  for (const [attributes, ...size] of sizes) {
    t.same((await drawn(sized(attributes))).size, size, attributes);
  }
  for (const attributes of ['width="0" height="9"', 'width="9" height="-1"']) {
    const error = { code: 'source_corrupt', message: /must be greater than 0/ };
    await t.rejects(drawn(sized(attributes)), error, attributes);
  }
});

t.test('scales lengths in an SVG with its output', async (t) => {
  const drawing = sized('width="200" height="100"', '<rect width="1in" height="99" fill="red"/>');
  for (const scale of [0.5, 1, 10]) {
    const output = await drawn(drawing, { width: 200 * scale });
    t.ok(
      near(output.at(94 * scale, 9), red) && near(output.at(98 * scale, 9), clear),
      String(scale),
    );
  }
});

t.test('ignores sizes in a style sheet', async (t) => {
  const sheet = '<style>svg { width: 60px !important; height: 30px }</style>';
  const drawing = sized('width="200" height="100"', sheet + inner);
  const output = await drawn(drawing, { width: 900 });
  t.same(output.size, [900, 450]);
  t.ok(near(output.at(448, 9), red, 2) && near(output.at(452, 9), clear, 2));
});
