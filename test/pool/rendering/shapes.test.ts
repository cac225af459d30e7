import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain, rendered, renderedIfLight } from './drawn.ts';
import { animation, blue, near, type Rgb, red, watermark } from './pictures.ts';

const brown: Rgb = [200, 100, 50];
const white: Rgb = [255, 255, 255];
const source = await plain(80, 60, brown);
const all = (radius: number) => ({
  topLeft: radius,
  topRight: radius,
  bottomRight: radius,
  bottomLeft: radius,
});

/** Returns the alphas of the four corner pixels, clockwise from the top left. */
async function cornerAlphas(options: Partial<Variant>, from = source) {
  const { at, size } = await drawn(from, options);
  const [right, bottom] = [size[0] - 1, size[1] - 1];
  return [at(0, 0), at(right, 0), at(right, bottom), at(0, bottom)].map(([, , , a]) => a);
}

t.test('cuts rounded corners off with radius', async (t) => {
  const { at, middle } = await drawn(source, { radius: all(20) });
  t.ok(near(middle, [...brown, 255], 1));
  t.same(
    [at(0, 0)[3], at(5, 5)[3], at(7, 7)[3], at(20, 0)[3], at(0, 20)[3]],
    [0, 0, 255, 255, 255],
  );
  // The arc crosses this pixel.
  const [r = 0, , , alpha = 0] = at(6, 5);
  t.ok(alpha > 0 && alpha < 255, 'antialiased');
  t.ok(Math.abs(r - brown[0]) < 3, 'edges keep their colour');
  t.same(await cornerAlphas({ radius: { ...all(0), topRight: 9 } }), [255, 0, 255, 255]);
  t.same(await cornerAlphas({ radius: { ...all(0), bottomLeft: 9 } }), [255, 255, 255, 0]);
});

t.test('limits radii to the shorter side, and max makes a circle or a pill', async (t) => {
  const circle = await rendered(source, { radius: 'max', width: 40, height: 40 });
  t.equal((await rendered(source, { radius: all(999), width: 40, height: 40 })).etag, circle.etag);
  const pill = await drawn(source, { radius: 'max' });
  t.same([pill.at(30, 0)[3], pill.at(49, 59)[3], pill.at(1, 30)[3]], [255, 255, 255]);
  t.same([pill.at(6, 6)[3], pill.at(73, 53)[3]], [0, 0]);
  // CSS shrinks all radii by the same factor.
  const shrunk = await rendered(source, { radius: { ...all(30), topLeft: 90 } });
  const [scale] = [60 / 120];
  const fitting = { ...all(30 * scale), topLeft: 90 * scale };
  t.equal((await rendered(source, { radius: fitting })).etag, shrunk.etag);
});

t.test('measures radii in CSS pixels of the image that the source allows', async (t) => {
  const [twice, once] = await Promise.all([
    rendered(source, { radius: all(10), width: 40, pixelRatio: 2 }),
    rendered(source, { radius: all(20), width: 40 }),
  ]);
  t.equal(twice.etag, once.etag);
  const tooLarge = await rendered(source, { radius: all(10), width: 160, pixelRatio: 2 });
  t.equal(tooLarge.etag, (await rendered(source, { radius: all(10) })).etag);
});

t.test('rounds the border, the padding and the layers', async (t) => {
  const extend = { top: 20, right: 20, bottom: 20, left: 20 };
  const framed = await drawn(source, { radius: all(10), extend, background: '#0000ffff' });
  t.same(framed.size, [120, 100]);
  t.same(
    [framed.at(0, 0), framed.at(10, 10)],
    [
      [0, 0, 0, 0],
      [...blue, 255],
    ],
  );
  const mark = await plain(10, 10, white);
  const [layer] = watermark({ scale: 50 });
  const marked = await drawn(source, { radius: all(12), layers: [layer] }, mark);
  t.same([marked.at(79, 59)[3], marked.at(60, 40)], [0, [...white, 255]]);
});

t.test('shows the background in corners that cannot be transparent', async (t) => {
  for (const options of [{ formats: ['jpeg'] }, { flatten: true }] as const) {
    const red = await drawn(source, { radius: all(20), background: '#ff0000ff', ...options });
    t.ok(near(red.at(1, 1), [255, 0, 0, 255], 12), 'the background');
    t.ok(near(red.middle, [...brown, 255], 6));
    const plainly = await drawn(source, { radius: all(20), ...options });
    t.ok(near(plainly.at(1, 1), [255, 255, 255, 255], 12), 'white');
  }
  const half = { radius: all(20), background: '#ff000080', opacity: 0.5 } as const;
  t.equal((await drawn(source, half)).at(0, 0)[3], 0, 'PNG stays transparent');
});

t.test('rounds grey, deep and profiled sources, and every frame', async (t) => {
  const grey = await sharp(source).toColourspace('b-w').png().toBuffer();
  const deep = await sharp(source).toColourspace('rgb16').png().toBuffer();
  const p3 = await sharp(source).withIccProfile('p3').png().toBuffer();
  for (const from of [grey, deep, p3]) {
    for (const options of [{}, { keepProfile: true }, { grayscale: true }]) {
      t.same(await cornerAlphas({ radius: all(9), ...options }, from), [0, 0, 0, 0]);
      const coloured = await drawn(from, {
        radius: all(20),
        background: '#ff0000ff',
        flatten: true,
        ...options,
      });
      const shown = await sharp(coloured.body).toColourspace('srgb').raw().toBuffer();
      t.ok(near([...shown.subarray(0, 3)], red, 3), 'a colour beside greys');
    }
  }
  const moving = await animation('gif', [red, blue], { width: 40, height: 20 });
  const { frame } = await drawn(moving, { radius: 'max', formats: ['webp'] });
  for (const [page, colour] of [red, blue].entries()) {
    const { at } = await frame(page);
    t.same([at(0, 0)[3], at(39, 19)[3]], [0, 0], `frame ${page}`);
    t.ok(near(at(20, 10), [...colour, 255], 8));
  }
});

t.test('draws a line along the rounded edge with outline', async (t) => {
  const outline = { width: 4, colour: '#0000ffff' } as const;
  const straight = await drawn(source, { outline });
  t.same(
    [straight.at(0, 0), straight.at(79, 30), straight.at(40, 3)].map((pixel) => pixel.slice(0, 3)),
    [blue, blue, blue],
  );
  t.ok(near(straight.at(40, 4), brown, 1) && near(straight.at(4, 30), brown, 1));
  const round = await drawn(source, { outline, radius: 'max', width: 60, height: 60 });
  t.same(
    [round.at(0, 0)[3], round.at(30, 1), round.at(30, 58)],
    [0, [...blue, 255], [...blue, 255]],
  );
  t.ok(
    near(round.at(10, 10), [...blue, 255], 3) && near(round.at(14, 14), brown, 1),
    'inside the arc',
  );
  const twice = await rendered(source, { outline, width: 40, pixelRatio: 2 });
  const once = await rendered(source, { outline: { ...outline, width: 8 }, width: 40 });
  t.equal(twice.etag, once.etag, 'CSS pixels');
  const grey = await sharp(source).toColourspace('b-w').png().toBuffer();
  const jpeg = { outline, radius: all(20), background: '#ff0000ff', formats: ['jpeg'] } as const;
  const flat = await drawn(grey, jpeg);
  t.ok(near(flat.at(1, 1), [255, 0, 0, 255], 30) && near(flat.at(40, 1), [...blue, 255], 30));
  const p3 = await sharp(source).withIccProfile('p3').png().toBuffer();
  const wide = await rendered(p3, { outline, keepProfile: true });
  const shown = await sharp(wide.body).toColourspace('srgb').raw().toBuffer();
  t.ok(near([...shown.subarray(0, 3)], blue, 3), 'in the colours of the profile');
});

t.test('is refused in SVGs', async (t) => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  await t.rejects(renderedIfLight(svg, { formats: ['svg'], radius: 'max' }), {
    code: 'parameter_invalid',
    message: /radius/,
  });
});
