import sharp from 'sharp';
import t from 'tap';
import type { Fit } from '../../../contract/image-terms.ts';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import { operations } from '../../../pool/rendering/operations.ts';
import type { Variant } from '../../../pool/variant.ts';
import { parameters } from '../../../server/image/parameters.ts';
import { apng } from './apng.ts';
import { drawn, inspected, plain, rendered } from './drawn.ts';
import {
  animation,
  blue,
  filled,
  green,
  modulation,
  near,
  noise,
  type Rgb,
  red,
  watermark,
  yellow,
} from './pictures.ts';

const colours = [red, green, blue, yellow];
const delays = [100, 50, 1000, 20];
const frameSize = { width: 40, height: 20 };
const pngFrames = colours.map(async (colour, index) => {
  return { png: await plain(frameSize.width, frameSize.height, colour), delay: delays[index] ?? 0 };
});
const sources = {
  gif: await animation('gif', colours, frameSize, delays),
  webp: await animation('webp', colours, frameSize, delays),
  png: apng(await Promise.all(pngFrames), 3),
};
const white = await plain(8, 8, [255, 255, 255]);
const mark = watermark();

interface Row {
  readonly options: Partial<Variant>;
  readonly size: readonly [number, number];
  /** Converts a frame's colour. */
  readonly to?: (colour: Rgb) => readonly number[];
  /** Pixels with the frame's colour; two corners by default. */
  readonly at?: readonly (readonly [x: number, y: number])[];
}

const square = (fit: Fit) => ({ width: 18, height: 18, fit });
const whole = [40, 20] as const;
const crop = { left: 3, top: 4, width: 20, height: 10 };
const above = { top: 2, right: 0, bottom: 0, left: 0 };
const box = { width: 10, height: 10, fit: 'cover', position: 'attention' } as const;
const faint = { opacity: 0.75, flatten: true };
const paler = (colour: Rgb) => colour.map((value) => Math.round(value * 0.75 + 255 * 0.25));
const inverse = (colour: Rgb) => colour.map((value) => 255 - value);
const contrasting = (colour: Rgb) =>
  colour.map((value) => Math.max(0, Math.min(255, 2 * value - 127.5)));
const rows: Readonly<Record<string, Row>> = {
  'no parameters': { options: {}, size: whole },
  resize: { options: { width: 20 }, size: [20, 10] },
  cover: { options: square('cover'), size: [18, 18] },
  contain: { options: square('contain'), size: [18, 18], at: [[9, 9]] },
  fill: { options: square('fill'), size: [18, 18] },
  crop: { options: { crop: { left: 3, top: 5, width: 30, height: 9 } }, size: [30, 9] },
  'crop and resize': { options: { crop, width: 10 }, size: [10, 5] },
  'rotate by 90': { options: { rotate: 90 }, size: [20, 40] },
  'rotate by 180 and crop': { options: { rotate: 180, crop }, size: [20, 10] },
  'rotate by 30': { options: { rotate: 30, width: 40 }, size: [40, 33], at: [[20, 16]] },
  flip: { options: { flip: true }, size: whole },
  flop: { options: { flop: true, width: 20 }, size: [20, 10] },
  'crop, flop and extend': {
    options: { crop, flop: true, width: 10, extend: above },
    size: [10, 7],
    at: [[5, 4]],
  },
  'gamma and extend': { options: { gamma: 2.2, extend: above }, size: [40, 22], at: [[20, 11]] },
  'gamma and contain': {
    options: { gamma: 2.2, width: 20, height: 20, fit: 'contain' },
    size: [20, 20],
    at: [[10, 10]],
  },
  blur: { options: { blur: 5 }, size: whole },
  median: { options: { median: 9 }, size: whole },
  sharpen: { options: { sharpen: 3 }, size: whole },
  attention: { options: box, size: [10, 10] },
  negate: { options: { negate: true }, size: whole, to: inverse },
  contrast: { options: { contrast: 100 }, size: whole, to: contrasting },
  'pixelate and extend': {
    options: { pixelate: 7, extend: above },
    size: [40, 22],
    at: [[20, 14]],
  },
  'blurarea, pixelatearea and rotate': {
    options: {
      blurarea: [{ left: 0, top: 0, width: 9, height: 9 }],
      pixelatearea: [{ left: 20, top: 10, width: 30, height: 30 }],
      rotate: 90,
    },
    size: [20, 40],
  },
  'sepia and blur': { options: { sepia: 1, blur: 2 }, size: whole },
  extend: {
    options: { extend: { top: 4, right: 3, bottom: 2, left: 1 } },
    size: [44, 26],
    at: [
      [5, 8],
      [36, 19],
    ],
  },
  opacity: { options: faint, size: whole, to: paler },
  'opacity and flip': { options: { ...faint, flip: true }, size: whole, to: paler },
  trim: { options: { trim: 10 }, size: whole },
  watermark: { options: { layers: mark }, size: whole, at: [[19, 9]] },
  'watermark, rotate by 270': {
    options: { layers: mark, rotate: 270 },
    size: [20, 40],
    at: [[5, 5]],
  },
};

for (const [name, { options, size, to, at }] of Object.entries(rows)) {
  const [width, height] = size;
  const corners = [[0, 0] as const, [width - 1, height - 1] as const];
  t.test(`keeps frames, delays and loop count (${name})`, async (t) => {
    for (const [from, source] of Object.entries(sources)) {
      for (const format of ['gif', 'webp'] as const) {
        const output = await drawn(source, { formats: [format], ...options }, white);
        t.same(output.size, size, `${from} to ${format}`);
        const expected = { pages: 4, width, pageHeight: height, delay: delays, loop: 3 };
        t.match(await output.header(), expected);
        for (const [page, colour] of colours.entries()) {
          const frame = await output.frame(page);
          for (const [x, y] of at ?? corners)
            t.ok(near(frame.at(x, y), to?.(colour) ?? colour, 16), `frame ${page} at ${x}, ${y}`);
        }
      }
    }
  });
}

t.test('keeps frames apart at sizes that do not divide evenly', async (t) => {
  const source = await animation('gif', colours, { width: 37, height: 23 });
  for (const width of [36, 31, 17, 5]) {
    const output = await drawn(source, { width, formats: ['webp'] });
    t.same(output.size, [width, Math.max(1, Math.round((width * 23) / 37))]);
    for (const [page, colour] of colours.entries()) {
      const { at } = await output.frame(page);
      t.ok(near(at(0, 0), colour, 30), `${width}: top of frame ${page}`);
      t.ok(near(at(0, output.height - 1), colour, 30), `${width}: bottom of frame ${page}`);
    }
  }
});

t.test('keeps the minimum and maximum loop count and delay', async (t) => {
  const once = await sharp(sources.gif, { pages: -1 }).gif({ loop: 1, delay: delays }).toBuffer();
  const most = Buffer.from(sources.gif);
  most.writeUInt16LE(65_535, most.indexOf('NETSCAPE2.0') + 'NETSCAPE2.0'.length + 2);
  // The first graphic control extension: its delay is in hundredths of a second.
  most.writeUInt16LE(65_535, most.indexOf(Buffer.from([0x21, 0xf9, 0x04])) + 4);
  const { loop, delay } = await sharp(most, { pages: -1 }).metadata();
  t.same([loop, delay?.[0]], [65_536, 655_350], 'as decoded');
  for (const format of ['gif', 'webp'] as const) {
    for (const rotate of [0, 30]) {
      const header = async (source: Buffer) =>
        (await drawn(source, { formats: [format], rotate })).header();
      const { loop = 0, delay = [], pages } = await header(most);
      t.same([pages, delay.slice(1)], [4, delays.slice(1)], 'the other delays are unchanged');
      t.ok(loop >= 65_535 && Number(delay[0]) > 65_000, `${loop} loops, ${delay[0]} ms`);
      t.match(await header(once), { loop: 1, delay: delays });
    }
  }
});

t.test('draws the first frame as a still image', async (t) => {
  const still = (['jpeg', 'png', 'avif'] as const).map((format) => ({ formats: [format] }));
  const stopped = (['gif', 'webp'] as const).map((format) => {
    return { formats: [format], animated: false, rotate: 180 };
  });
  for (const options of [...still, ...stopped]) {
    for (const source of [sources.gif, sources.png]) {
      const output = await drawn(source, options);
      const { width, height, pages = 1 } = await output.header();
      t.same([output.size, width, height, pages], [[40, 20], 40, 20, 1]);
      t.ok(near(output.at(20, 10), red, 12), options.formats.join());
    }
  }
});

t.test('adds a transparent border and a watermark to every frame', async (t) => {
  const extend = { top: 4, right: 3, bottom: 2, left: 1 };
  const bordered = await drawn(sources.gif, { extend, formats: ['webp'] });
  const marked = await drawn(sources.gif, { layers: mark, formats: ['webp'] }, white);
  for (const page of colours.keys()) {
    const border = await bordered.frame(page);
    t.equal(border.at(0, 10)[3], 0);
    t.equal(border.at(10, 3)[3], 0);
    t.equal(border.at(10, 24)[3], 0);
    t.ok(near((await marked.frame(page)).at(36, 16), [255, 255, 255, 255], 16));
  }
});

/** Returns a GIF of red frames at the top left, with these disposals and no transparent colour. */
async function redGif(
  canvas: { readonly width: number; readonly height: number },
  frames: readonly (readonly [width: number, disposal: number | null])[],
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const [width, disposal] of frames) {
    const gif = await sharp(await plain(width, 20, red))
      .gif()
      .toBuffer();
    const control = gif.indexOf(Buffer.from([0x21, 0xf9, 4]));
    if (parts.length === 0) parts.push(gif.subarray(0, control));
    if (disposal !== null) parts.push(Buffer.from([0x21, 0xf9, 4, disposal << 2, 10, 0, 0, 0]));
    parts.push(gif.subarray(control + 8, -1));
  }
  const file = Buffer.concat([...parts, Buffer.of(0x3b)]);
  file.writeUInt16LE(canvas.width, 6);
  file.writeUInt16LE(canvas.height, 8);
  return file;
}

t.test('draws areas outside a GIF frame as transparent, like browsers', async (t) => {
  const canvas = { width: 40, height: 20 };
  const wide = { width: 60, height: 20 };
  for (const [name, source, clear] of [
    ['one frame', await redGif(wide, [[40, 0]]), [50]],
    ['one frame without a graphic control', await redGif(wide, [[40, null]]), [50]],
    [
      'a frame that is cleared',
      await redGif(canvas, [
        [40, 2],
        [20, 0],
      ]),
      [null, 30],
    ],
  ] as const) {
    for (const format of ['gif', 'webp'] as const) {
      const { frame } = await drawn(source, {
        formats: [format],
        modulate: modulation,
        lossless: true,
      });
      for (const [page, x] of clear.entries()) {
        const { at } = await frame(page);
        const label = `${name}, ${format}, ${page}`;
        t.ok(near(at(10, 10), [...red, 255], 3), `${label}: ${at(10, 10)}`);
        if (x !== null) t.equal(at(x, 10)[3], 0, `${label}: transparent`);
      }
    }
    t.ok(source.equals((await drawn(source, { formats: ['gif'] })).body), `${name}: delivered`);
  }
  for (const opaque of [
    await redGif(canvas, [
      [40, 0],
      [20, 0],
    ]),
    await redGif(canvas, [
      [40, 2],
      [40, 2],
    ]),
  ]) {
    t.equal(openContainer(opaque).bytes, opaque, 'all is covered');
  }
});

t.test('keeps transparency on every frame, even in grey', async (t) => {
  const extend = { top: 0, right: 40, bottom: 0, left: 0 };
  const source = (await drawn(sources.gif, { extend, formats: ['gif'] })).body;
  for (const grey of [{ grayscale: true }, { threshold: 100 }, { threshold: 100, blur: 1 }]) {
    for (const more of [{}, { rotate: 180, flop: true, flip: true }, { opacity: 1 }]) {
      const output = await drawn(source, { ...grey, ...more, formats: ['webp'] });
      const { at } = await output.frame(0);
      t.same([at(10, 10)[3], at(60, 10)[3]], [255, 0], JSON.stringify({ ...grey, ...more }));
    }
  }
});

t.test('keeps frames apart in every operation', async (t) => {
  const pages = [0, 1, 2, 3];
  // normalize uses the range of all frames, so that an animation does not flicker.
  const { normalize: _, ...ofFrames } = operations;
  for (const name of Object.keys(ofFrames) as (keyof typeof ofFrames)[]) {
    const parameter = name === 'backdrop' ? parameters.bg : parameters[name];
    const padding = name === 'backdrop' ? { extend: { top: 9, right: 0, bottom: 0, left: 0 } } : {};
    const value = parameter.parse(parameter.example);
    const options = { [name]: value, ...padding, formats: ['webp'], lossless: true } as const;
    const { body } = await drawn(sources.gif, options);
    for (const page of pages) {
      const frame = await sharp(body, { page }).ensureAlpha().raw().toBuffer();
      const still = await drawn(sources.gif, { ...options, page });
      t.ok(frame.equals(await sharp(still.body).ensureAlpha().raw().toBuffer()), `${name} ${page}`);
    }
  }
});

t.test('warns about a still image of an animation, unless the client requested it', async (t) => {
  const warned = ['animation_dropped'] as const;
  for (const [options, warnings] of [
    [{ formats: ['avif'] }, warned],
    [{ formats: ['png'] }, warned],
    [{ formats: ['webp'] }, undefined],
    [{ formats: ['avif'], animated: false }, undefined],
    [{ formats: ['avif'], page: 1 }, undefined],
  ] as const) {
    for (const source of [sources.gif, sources.png]) {
      t.same((await rendered(source, options)).warnings, warnings, JSON.stringify(options));
    }
  }
});

t.test('delivers a still image of an animation with a damaged frame', async (t) => {
  const gif = Buffer.from(sources.gif);
  // Finds the code size of the last frame's data, which follows its colour table.
  const frame = gif.lastIndexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  const table =
    ((gif[frame + 9] ?? 0) & 0x80) === 0 ? 0 : 3 * 2 ** (((gif[frame + 9] ?? 0) & 7) + 1);
  gif[frame + 10 + table] = 9;
  const png = Buffer.from(sources.png);
  // Data of the last frame, before its checksum and IEND.
  png.fill(0, png.length - 40, png.length - 16);
  for (const source of [gif, png]) {
    for (const formats of [['webp'], ['gif']] as const) {
      const image = await drawn(source, { formats });
      t.ok(near(image.at(5, 5), red), formats.join());
      t.same(image.warnings, ['animation_dropped'], formats.join());
    }
  }
});

/** All ways to dispose of frames and to blend, with the three bars' colours in Chromium 156. */
const bar = (background: string, width = 10) => filled(width, 10, background, 4).png().toBuffer();
const composed = apng([
  { png: await bar('red', 30) },
  { png: await bar('rgba(0,0,255,0.5)'), left: 10, dispose: 2, blends: true },
  { png: await bar('rgba(0,255,0,0.5)'), dispose: 1 },
  { png: await bar('white'), left: 20, blends: true },
]);
const opaqueRed = [255, 0, 0, 255];
const composedBars = [
  [opaqueRed, opaqueRed, opaqueRed],
  [opaqueRed, [127, 0, 128, 255], opaqueRed],
  [[0, 255, 0, 128], opaqueRed, opaqueRed],
  [[0, 0, 0, 0], opaqueRed, [255, 255, 255, 255]],
] as const;

t.test('draws the frames of a PNG like browsers', async (t) => {
  const { frame } = await drawn(composed, { formats: ['webp'], lossless: true });
  for (const [page, bars] of composedBars.entries()) {
    const { at } = await frame(page);
    const single = await drawn(composed, { page });
    for (const [index, colour] of bars.entries()) {
      const x = 10 * index + 5;
      for (const seen of [at(x, 5), single.at(x, 5)]) {
        const same = seen[3] === 0 ? colour[3] === 0 : near(seen, colour, 2);
        t.ok(same, `frame ${page}, bar ${index}`, { seen });
      }
    }
  }
});

t.test('starts an animated PNG at its first frame', async (t) => {
  const still = await plain(40, 20, yellow);
  const frames = [red, blue].map(async (colour) => ({ png: await plain(40, 20, colour) }));
  const source = apng(await Promise.all(frames), 0, still);
  t.ok(near((await drawn(source)).at(5, 5), red), 'the first frame');
  const only = apng([{ png: await plain(40, 20, blue) }], 0, still);
  t.ok(near((await drawn(only)).at(5, 5), blue), 'the only frame');
  const { body } = await rendered(source, { placeholder: 'json' });
  t.match(JSON.parse(Buffer.from(body).toString()).source, { format: 'png', frames: 2, pages: 2 });
  await t.rejects(drawn(source, { page: 2 }), { code: 'parameter_invalid' });
});

t.test('limits the frames of a PNG', async (t) => {
  const png = await plain(1, 1, red);
  const many = apng(Array.from({ length: 1_001 }, () => ({ png })));
  await t.rejects(drawn(many), { code: 'source_too_large', message: /1001 frames/ });
  await t.rejects(inspected(sources.png, 3_199), { code: 'source_too_large' });
  t.equal((await inspected(sources.png, 3_200)).frames, 4);
});

t.test('draws the still image of a PNG with invalid frames', async (t) => {
  const outside = apng([
    { png: await plain(4, 4, red) },
    { png: await plain(4, 4, blue), left: 1 },
  ]);
  const fewer = Buffer.from(sources.png);
  fewer.writeUInt32BE(5, fewer.indexOf('acTL') + 4);
  for (const source of [outside, fewer]) {
    const image = await drawn(source, { formats: ['webp'] });
    t.ok(near(image.at(1, 1), red));
    t.same(image.warnings, ['animation_dropped']);
  }
});

t.test('converts an animated PNG from its profile', async (t) => {
  const picture = filled(40, 20, 'rgb(200,60,40)').withIccProfile('p3');
  const png = await picture.png().toBuffer();
  const source = apng([{ png }, { png }]);
  for (const options of [{ formats: ['webp'], lossless: true }, { page: 1 }] as const) {
    t.ok(near((await drawn(source, options)).at(5, 5), [200, 60, 40], 3), JSON.stringify(options));
  }
});

t.test('delivers an unchanged animated PNG if a new encoding is larger', async (t) => {
  const options = { formats: ['webp'], negotiated: true, quality: 100 } as const;
  const noisy = await noise(60, 60).png({ compressionLevel: 9 }).toBuffer();
  const source = apng([{ png: noisy }, { png: await plain(60, 60, red) }]);
  const { body } = await drawn(source, { ...options, lossless: true });
  const isSource = source.equals(body);
  t.ok(isSource || body.length < source.length);
  t.notOk(source.equals((await drawn(source, { formats: ['png'], quality: 100 })).body));
});
