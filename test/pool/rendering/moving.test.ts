import sharp from 'sharp';
import t from 'tap';
import { openContainer } from '../../../pool/formats/container/container.ts';
import { render } from '../../../pool/rendering/render.ts';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, limits, plain } from './drawn.ts';
import {
  animation,
  blue,
  green,
  near,
  type Rgb,
  red,
  shared,
  tiffOfPages,
  variant,
  yellow,
} from './pictures.ts';

const colours = [red, green, blue, yellow];
const delays = [100, 50, 1000, 20];
const frameSize = { width: 40, height: 20 };
const sources = {
  gif: await animation('gif', colours, frameSize, delays),
  webp: await animation('webp', colours, frameSize, delays),
};
const mark = await plain(8, 8, [255, 255, 255]);
const watermark = {
  url: 'https://example.com/mark.png',
  position: 'southeast',
  opacity: 100,
  scale: 20,
  margin: 0,
} as const;

interface Row {
  readonly asked: Partial<Variant>;
  readonly size: readonly [number, number];
  /** Converts a frame's colour. */
  readonly to?: (colour: Rgb) => readonly number[];
  /** Pixels with the frame's colour; two corners by default. */
  readonly at?: readonly (readonly [x: number, y: number])[];
}

const whole = [40, 20] as const;
const crop = { left: 3, top: 4, width: 20, height: 10 };
const above = { top: 2, right: 0, bottom: 0, left: 0 };
const box = { width: 10, height: 10, fit: 'cover', position: 'attention' } as const;
const faint = { opacity: 0.75, flatten: true };
const paler = (colour: Rgb) => colour.map((value) => Math.round(value * 0.75 + 255 * 0.25));
const inverse = (colour: Rgb) => colour.map((value) => 255 - value);
const rows: Readonly<Record<string, Row>> = {
  'no parameters': { asked: {}, size: whole },
  resize: { asked: { width: 20 }, size: [20, 10] },
  crop: { asked: { crop: { left: 3, top: 5, width: 30, height: 9 } }, size: [30, 9] },
  'crop and resize': { asked: { crop, width: 10 }, size: [10, 5] },
  'rotate by 90': { asked: { rotate: 90 }, size: [20, 40] },
  'rotate by 180 and crop': { asked: { rotate: 180, crop }, size: [20, 10] },
  'rotate by 30': { asked: { rotate: 30, width: 40 }, size: [40, 33], at: [[20, 16]] },
  flip: { asked: { flip: true }, size: whole },
  flop: { asked: { flop: true, width: 20 }, size: [20, 10] },
  'crop, flop and extend': {
    asked: { crop, flop: true, width: 10, extend: above },
    size: [10, 7],
    at: [[5, 4]],
  },
  'gamma and extend': { asked: { gamma: 2.2, extend: above }, size: [40, 22], at: [[20, 11]] },
  'gamma and contain': {
    asked: { gamma: 2.2, width: 20, height: 20, fit: 'contain' },
    size: [20, 20],
    at: [[10, 10]],
  },
  blur: { asked: { blur: 5 }, size: whole },
  median: { asked: { median: 9 }, size: whole },
  sharpen: { asked: { sharpen: 3 }, size: whole },
  attention: { asked: box, size: [10, 10] },
  negate: { asked: { negate: true }, size: whole, to: inverse },
  extend: {
    asked: { extend: { top: 4, right: 3, bottom: 2, left: 1 } },
    size: [44, 26],
    at: [
      [5, 8],
      [36, 19],
    ],
  },
  opacity: { asked: faint, size: whole, to: paler },
  'opacity and flip': { asked: { ...faint, flip: true }, size: whole, to: paler },
  trim: { asked: { trim: 10 }, size: whole },
  watermark: { asked: { watermark }, size: whole, at: [[19, 9]] },
  'watermark, rotate by 270': {
    asked: { watermark, rotate: 270 },
    size: [20, 40],
    at: [[5, 5]],
  },
};

for (const [name, { asked, size, to, at }] of Object.entries(rows)) {
  const [width, height] = size;
  t.test(`${name} keeps frames, delays and loop count`, async (t) => {
    for (const [from, source] of Object.entries(sources)) {
      for (const format of ['gif', 'webp'] as const) {
        const made = await drawn(source, { formats: [format], ...asked }, mark);
        t.same(made.size, size, `${from} to ${format}`);
        const { pages, width: across, pageHeight, delay, loop } = await made.header();
        t.same([pages, across, pageHeight, delay, loop], [4, width, height, delays, 3]);
        const points =
          at ??
          ([
            [0, 0],
            [width - 1, height - 1],
          ] as const);
        for (const [page, colour] of colours.entries()) {
          const frame = await made.frame(page);
          for (const [x, y] of points)
            t.ok(near(frame.at(x, y), to?.(colour) ?? colour, 16), `frame ${page} at ${x}, ${y}`);
        }
      }
    }
  });
}

t.test('every frame has a transparent border and a watermark', async (t) => {
  const extend = { top: 4, right: 3, bottom: 2, left: 1 };
  const bordered = await drawn(sources.gif, { extend, formats: ['webp'] });
  const marked = await drawn(sources.gif, { watermark, formats: ['webp'] }, mark);
  for (const page of colours.keys()) {
    const border = await bordered.frame(page);
    t.equal(border.at(0, 10)[3], 0);
    t.equal(border.at(10, 3)[3], 0);
    t.equal(border.at(10, 24)[3], 0);
    t.ok(near((await marked.frame(page)).at(36, 16), [255, 255, 255, 255], 16));
  }
});

t.test('transparency is kept on every frame, also in grey', async (t) => {
  const extend = { top: 0, right: 40, bottom: 0, left: 0 };
  const source = (await drawn(sources.gif, { extend, formats: ['gif'] })).body;
  for (const grey of [{ grayscale: true }, { threshold: 100 }, { threshold: 100, blur: 1 }]) {
    for (const more of [{}, { rotate: 180, flop: true, flip: true }, { opacity: 1 }]) {
      const made = await drawn(source, { ...grey, ...more, formats: ['webp'] });
      const { at } = await made.frame(0);
      t.same([at(10, 10)[3], at(60, 10)[3]], [255, 0], JSON.stringify({ ...grey, ...more }));
    }
  }
});

t.test('animated: false uses the first frame', async (t) => {
  for (const format of ['gif', 'webp'] as const) {
    const made = await drawn(sources.gif, { animated: false, formats: [format], rotate: 90 });
    t.equal((await made.header()).pages ?? 1, 1);
    t.ok(near(made.at(10, 10), red, 12));
  }
});

async function facts(source: Buffer, page: number) {
  const asked = variant({ page, placeholder: 'json' });
  const { body } = await render(shared(source), null, asked, limits);
  return JSON.parse(Buffer.from(body).toString());
}

t.test('a page is one frame of an animation', async (t) => {
  for (const source of Object.values(sources)) {
    for (const [page, colour] of colours.entries()) {
      for (const more of [{}, { rotate: 90, trim: 5 }, { width: 10, height: 10, blur: 1 }]) {
        const made = await drawn(source, { page, formats: ['webp'], ...more });
        t.equal((await made.header()).pages ?? 1, 1);
        t.ok(near(made.at(4, 4), colour, 12), `frame ${page}`);
      }
    }
    await t.rejects(drawn(source, { page: 4 }), {
      code: 'parameter_invalid',
      message: 'page is 4, and the source has 4 pages, 0 to 3.',
    });
  }
  const { source, dominant } = await facts(sources.gif, 2);
  t.match([source, dominant], [{ pages: 4, width: 40, height: 20 }, '#0000ff']);
});

t.test('a page of a TIFF has its own size', async (t) => {
  for (const form of [{}, { little: false }, { big: true }, { big: true, little: false }]) {
    const source = tiffOfPages(7, form);
    t.equal(openContainer(source).pages, 7, JSON.stringify(form));
    for (const page of [null, 0, 3, 6]) {
      const { size, at } = await drawn(source, { page });
      const index = page ?? 0;
      t.same(
        [size, at(0, 0)],
        [
          [(index % 5) + 1, 1],
          [index, index, index, 255],
        ],
      );
    }
    await t.rejects(drawn(source, { page: 7 }), { code: 'parameter_invalid', message: /7 pages/ });
  }
  t.match((await facts(tiffOfPages(7), 3)).source, { pages: 7, width: 4, height: 1 });
});

t.test('other images have one page', async (t) => {
  t.same((await drawn(mark, { page: 0 })).size, [8, 8]);
  const none = { code: 'parameter_invalid', message: /the source has only one page, 0/ };
  await t.rejects(drawn(mark, { page: 1 }), none);
  await t.rejects(
    drawn('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', { page: 1 }),
    none,
  );
});

/** An AVIF of two images: the first is red, landscape; the second is grey, portrait and primary. */
async function avifOfTwo(): Promise<Buffer> {
  const file = await sharp(await plain(40, 30, red, 0.5))
    .avif({ lossless: true })
    .toBuffer();
  // The second item is the alpha of the first; without the reference between them it is an image.
  file.write('free', file.indexOf('iref'), 'latin1');
  file.writeUInt16BE(2, file.indexOf('pitm') + 8);
  const property = file.indexOf('auxC');
  file.write('irot', property, 'latin1');
  file[property + 4] = 1;
  return file;
}

t.test('an AVIF without a page is its primary image, which need not be the first', async (t) => {
  const source = await avifOfTwo();
  const grey = [128, 128, 128];
  for (const [page, size, colour] of [
    [null, [30, 40], grey],
    [0, [40, 30], red],
    [1, [30, 40], grey],
  ] as const) {
    const made = await drawn(source, { page });
    t.same(made.size, size, `page ${page}`);
    t.ok(near(made.at(4, 4), colour), `page ${page}: ${made.at(4, 4)}`);
  }
  t.ok(near((await drawn(source, { trim: 5 })).at(4, 4), grey), 'also for trim');
  t.match((await drawn(source, { width: 15 })).size, [15, 20]);
});

t.test('the pages of a TIFF are counted before decoding', async (t) => {
  t.same((await drawn(tiffOfPages(2_000), { page: 1_999 })).at(0, 0).slice(0, 1), [1_999 % 256]);
  const refused = { code: 'source_too_large', message: /more than 2000 pages/ };
  await t.rejects(drawn(tiffOfPages(3_000)), refused);
  t.equal(
    openContainer(tiffOfPages(3, { last: 8 + 5 * 256 })).pages,
    3,
    'also with a circular link',
  );
  t.equal(openContainer(tiffOfPages(3).subarray(0, -102)).pages, 2, 'and in a truncated file');
  t.equal(openContainer(sources.gif).pages, 0, 'only in a TIFF');
});

t.test('a loop count of 1 is kept', async (t) => {
  const once = await sharp(sources.gif, { pages: -1 }).gif({ loop: 1, delay: delays }).toBuffer();
  for (const asked of [{}, { rotate: 90 }]) {
    for (const format of ['gif', 'webp'] as const) {
      const header = await (await drawn(once, { formats: [format], ...asked })).header();
      t.same([header.loop, header.delay], [1, delays]);
    }
  }
});

t.test('too many small frames are too large', async (t) => {
  const count = 2001;
  const data = Buffer.alloc(count);
  for (let index = 0; index < count; index += 1) data[index] = index % 2 === 0 ? 0 : 255;
  const raw = { width: 1, height: count, channels: 1 as const, pageHeight: 1 };
  const many = await sharp(data, { raw }).gif({ effort: 1 }).toBuffer();
  t.equal((await sharp(many, { pages: -1 }).metadata()).pages, count);
  await t.rejects(drawn(many, { formats: ['gif'] }), { code: 'source_too_large' });
});
