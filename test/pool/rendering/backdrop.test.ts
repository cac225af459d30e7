import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain } from './drawn.ts';
import {
  animation,
  gradient,
  modulation,
  near,
  quarters,
  type Rgb,
  red,
  yellow,
} from './pictures.ts';

const blur = { blur: 6 };
const edge = { blur: null };
const clear = [0, 0, 0, 0];
const border = { top: 8, right: 12, bottom: 4, left: 20 };

/** Blue, with a line along the edge: green above, elsewhere red. */
const framed = await sharp(await plain(40, 20, [0, 0, 255]))
  .composite([
    { input: await plain(40, 1, [0, 255, 0]), left: 0, top: 0 },
    { input: await plain(40, 1, red), left: 0, top: 19 },
    { input: await plain(1, 18, red), left: 0, top: 1 },
    { input: await plain(1, 18, red), left: 39, top: 1 },
  ])
  .png()
  .toBuffer();
/** Of 116 pixels of the line, 40 are green. */
const mean: Rgb = [Math.round((255 * 76) / 116), Math.round((255 * 40) / 116), 0];

t.test("shows the mean colour of the image's outermost pixels", async (t) => {
  const options = { extend: border, backdrop: edge } as const;
  const { size, at, header } = await drawn(framed, options);
  t.same(size, [72, 32]);
  t.same((await header()).hasAlpha, false, 'an opaque image stays opaque');
  const around = [
    [0, 0],
    [71, 31],
    [19, 10],
    [60, 10],
    [30, 7],
    [30, 28],
  ] as const;
  for (const [x, y] of around) t.same(at(x, y), [...mean, 255], `${x}, ${y}`);
  t.same(
    [at(20, 8), at(59, 27), at(30, 15)],
    [
      [0, 255, 0, 255],
      [255, 0, 0, 255],
      [0, 0, 255, 255],
    ],
  );
  const contained = await drawn(framed, { width: 40, height: 60, fit: 'contain', backdrop: edge });
  t.same(
    [contained.size, contained.at(3, 3)],
    [
      [40, 60],
      [...mean, 255],
    ],
  );
  const pixel = await drawn(await plain(1, 1, red), options);
  t.same(
    [pixel.size, pixel.at(3, 3)],
    [
      [33, 13],
      [...red, 255],
    ],
  );
  for (const format of ['webp', 'jpeg', 'avif'] as const) {
    const { at } = await drawn(framed, { ...options, formats: [format] });
    t.ok(near(at(3, 3), [...mean, 255], 8), `${format}: ${at(3, 3)}`);
  }
});

t.test('shows a blurred copy that covers the output', async (t) => {
  const source = await gradient(120, 40);
  const padded = { width: 60, height: 60, fit: 'contain', backdrop: blur } as const;
  const { size, at, header } = await drawn(source, padded);
  t.same([size, (await header()).hasAlpha], [[60, 60], false]);
  // The copy shows the middle third of the source.
  t.ok(near(at(0, 2), [80, 0, 0, 255], 12), `${at(0, 2)}`);
  t.ok(near(at(59, 2), [160, 0, 0, 255], 12), `${at(59, 2)}`);
  t.ok(near(at(0, 30), [1, 40, 0, 255], 4), 'the image itself');
  const { at: strong } = await drawn(source, { ...padded, backdrop: { blur: 200 } });
  t.ok(near(strong(0, 0), strong(59, 59), 4), 'one colour when much stronger');
  const twice = { ...padded, width: 120, height: 120, pixelRatio: 2, extend: border };
  const { at: dense } = await drawn(await quarters(240, 80).png().toBuffer(), twice);
  const { at: once } = await drawn(await quarters(120, 40).png().toBuffer(), {
    ...padded,
    extend: { top: 4, right: 6, bottom: 2, left: 10 },
  });
  for (const [x, y] of [
    [3, 3],
    [40, 5],
    [74, 60],
  ] as const) {
    t.ok(near(dense(2 * x, 2 * y), once(x, y), 6), `grows with the pixel ratio: ${x}, ${y}`);
  }
});

t.test('shows through transparency, and on white without it', async (t) => {
  const source = await sharp(await plain(20, 20, red))
    .extend({ top: 0, bottom: 0, left: 10, right: 10, background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer();
  const padded = { extend: border, backdrop: { blur: 1 } } as const;
  const { at } = await drawn(source, padded);
  t.ok(near(at(36, 2), [...red, 255]) && near(at(22, 16), at(22, 2), 40), 'below the image too');
  for (const more of [{ formats: ['jpeg'] }, { flatten: true }] as const) {
    const { at, header } = await drawn(source, { ...padded, ...more });
    t.ok(near(at(0, 15), [255, 255, 255, 255]), `${at(0, 15)}`);
    t.ok(near(at(36, 2), [...red, 255], 8) && (await header()).hasAlpha === false);
  }
  const { at: half } = await drawn(await plain(20, 20, red, 0.5), {
    extend: border,
    backdrop: edge,
  });
  t.ok(near(half(0, 0), [...red, 128], 2) && near(half(25, 15), [...red, 191], 2));
  const { at: opaque } = await drawn(await plain(20, 20, red, 0.5), {
    extend: border,
    backdrop: edge,
    formats: ['jpeg'],
  });
  t.ok(near(opaque(0, 0), [255, 128, 128, 255]) && near(opaque(30, 18), [255, 64, 64, 255]));
});

t.test('has no effect without padding', async (t) => {
  const source = await plain(20, 20, red, 0.5);
  for (const options of [{}, { formats: ['jpeg'] }, { width: 10, height: 10, fit: 'contain' }]) {
    const without = await drawn(source, options as Partial<Variant>);
    for (const backdrop of [blur, edge]) {
      const { at, size } = await drawn(source, { ...(options as Partial<Variant>), backdrop });
      t.same([size, at(3, 3)], [without.size, without.at(3, 3)], JSON.stringify(options));
    }
  }
});

t.test('shows behind turned, cropped, rounded and filtered images of every kind', async (t) => {
  const four = () => quarters(80, 40);
  const sources = {
    RGB: await four().png().toBuffer(),
    JPEG: await four().jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer(),
    grey: await four().toColourspace('b-w').png().toBuffer(),
    CMYK: await four().toColourspace('cmyk').withIccProfile('cmyk').jpeg().toBuffer(),
    '16 bits': await four().toColourspace('rgb16').png().toBuffer(),
    P3: await four().withIccProfile('p3').png().toBuffer(),
  };
  const box = { width: 60, height: 60, fit: 'contain' } as const;
  const cases: Readonly<Record<string, Partial<Variant>>> = {
    turned: { rotate: 90 },
    cropped: { crop: { left: 0, top: 0, width: 40, height: 20 } },
    blurred: { blur: 2 },
    'with its profile': { keepProfile: true },
    sharpened: { sharpen: 1, gamma: 2 },
    normalised: { normalize: true, modulate: { ...modulation, hue: 90 } },
    extended: { extend: border },
  };
  for (const [kind, source] of Object.entries(sources)) {
    for (const [how, options] of Object.entries(cases)) {
      for (const formats of [['png'], ['jpeg']] as const) {
        const name = `${kind}, ${how}, ${formats}`;
        const all = { ...box, ...options, formats, quality: 100 };
        const { at, size } = await drawn(source, { ...all, backdrop: edge });
        const { at: without } = await drawn(source, { ...all, background: '#00ff00ff' });
        const inside = [Math.round(size[0] * 0.4), Math.round(size[1] * 0.4)] as const;
        t.ok(near(at(...inside), without(...inside), 16), `${name}: the image itself`);
        t.equal(at(0, 0)[3], 255, `${name}: behind it`);
        t.notOk(near(at(0, 0), [0, 255, 0, 255], 40), name);
      }
    }
  }
  const round = { ...box, radius: 'max', backdrop: blur } as const;
  t.same((await drawn(sources.RGB, round)).at(0, 0), clear, 'cut with the image');
  const jpeg = await drawn(sources.RGB, { ...round, formats: ['jpeg'] });
  t.ok(near(jpeg.at(0, 0), [255, 255, 255, 255]));
  const tilted = await drawn(sources.RGB, { ...box, rotate: 45, backdrop: blur, height: 90 });
  const corner = tilted.at(1, 20);
  t.ok((corner[3] ?? 0) > 200 && Math.min(...corner) < 200, `in free corners: ${corner}`);
  const soft = await drawn(sources.RGB, { ...box, blur: 3, backdrop: edge });
  t.ok(near(soft.at(10, 15), [...red, 255], 20), `not mixed with padding: ${soft.at(10, 15)}`);
});

t.test('shows behind each frame of an animation', async (t) => {
  const source = await animation('gif', [red, yellow], { width: 20, height: 10 });
  for (const backdrop of [blur, edge]) {
    const options = { width: 20, height: 20, fit: 'contain', backdrop, formats: ['webp'] } as const;
    const output = await drawn(source, options);
    for (const [index, colour] of [red, yellow].entries()) {
      const { at } = await output.frame(index);
      t.ok(near(at(2, 2), [...colour, 255], 8), `${index}: ${at(2, 2)}`);
      t.ok(near(at(10, 10), [...colour, 255], 8));
    }
  }
});
