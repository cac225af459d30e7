import t from 'tap';
import { type Fit, fitModes } from '../../../contract/image-terms.ts';
import type { SourceFacts } from '../../../pool/formats/source-format.ts';
import type { OutputFormat } from '../../../pool/rendering/encode/encodings.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { Area, Variant } from '../../../pool/variant.ts';
import { formatNamed } from '../formats/named.ts';
import { sourceFacts as facts, variant } from './pictures.ts';

const megapixels = 1_000_000;

type Row = readonly [
  what: string,
  source: SourceFacts,
  options: Partial<Variant>,
  /** Output size and resize steps. */
  planned: string,
  crop?: Area,
];

const area = (left: number, top: number, width: number, height: number): Area => {
  return { left, top, width, height };
};
const border = (top: number, right: number, bottom: number, left: number) => {
  return { extend: { top, right, bottom, left } };
};
const box = (width: number, height: number, fit: Fit, more: Partial<Variant> = {}) => {
  return { width, height, fit, ...more };
};
const ratio = (aspectRatio: number, fit: Fit, more: Partial<Variant> = {}) => {
  return { aspectRatio, fit, ...more };
};
const enlarge = { enlarge: true };
const keep = { enlarge: 'box' } as const;
const keepAt2 = { ...keep, pixelRatio: 2 };
const contained = '2000 x 667, padded';
const vector = (width: number, height: number) =>
  facts(width, height, { format: formatNamed('svg') });
const gif = (width: number, height: number, frames: number) =>
  facts(width, height, { format: formatNamed('gif'), frames });
const lossless = (format: OutputFormat) => ({ formats: [format], lossless: true });

const photo = facts(1000, 667);
const rotated = (orientation: number) => facts(1000, 500, { orientation });
const small = facts(10, 5);
const rows: readonly Row[] = [
  ['no parameters', photo, {}, '1000 x 667'],
  ['width only', photo, { width: 333 }, '333 x 222, fill'],
  ['height only', photo, { height: 333 }, '499 x 333, fill'],
  ['halves are rounded up', facts(1000, 665), { width: 100 }, '100 x 67, fill'],
  ['at least one pixel', facts(1000, 2), { width: 10 }, '10 x 1, fill'],
  ['width is not enlarged', photo, { width: 2000 }, '1000 x 667'],
  ['height is not enlarged', photo, { height: 2000 }, '1000 x 667'],

  ['cover', photo, box(300, 300, 'cover'), '300 x 300, cover'],
  ['cover, wider', photo, box(2000, 1000, 'cover'), '1000 x 500, cover'],
  ['cover, one side larger', photo, box(500, 1334, 'cover'), '250 x 667, cover'],
  ['contain', photo, box(300, 300, 'contain'), '300 x 300, fill, padded'],
  ['contain, larger', photo, box(4000, 2000, 'contain'), '1334 x 667, padded'],
  ['contain, one side larger', photo, box(500, 2000, 'contain'), '500 x 2000, fill, padded'],
  ['fill', photo, box(300, 600, 'fill'), '300 x 600, fill'],
  ['fill, larger', photo, box(2000, 2000, 'fill'), '667 x 667, fill'],
  ['inside', photo, box(300, 300, 'inside'), '300 x 200, fill'],
  ['inside, larger', photo, box(3000, 3000, 'inside'), '1000 x 667'],
  ['outside', photo, box(300, 300, 'outside'), '450 x 300, fill'],
  ['outside, larger', photo, box(900, 900, 'outside'), '1000 x 667'],

  ['ratio, cover', photo, ratio(1, 'cover'), '667 x 667, cover'],
  ['ratio, cover, wider', photo, ratio(2, 'cover'), '1000 x 500, cover'],
  ['ratio, contain', photo, ratio(1, 'contain'), '1000 x 1000, padded'],
  ['ratio, contain, wider', photo, ratio(2, 'contain'), '1334 x 667, padded'],
  ['ratio, fill', photo, ratio(2, 'fill'), '1000 x 500, fill'],
  ['ratio, inside', photo, ratio(2, 'inside'), '1000 x 667'],
  ['ratio, outside', photo, ratio(2, 'outside'), '1000 x 667'],
  ['ratio of the picture', photo, ratio(1000 / 667, 'cover'), '1000 x 667'],
  ['ratio, enlarge', photo, ratio(1, 'cover', enlarge), '667 x 667, cover'],
  ['ratio, vector', vector(300, 150), ratio(1, 'cover'), '150 x 150, cover'],
  ['ratio, maxWidth', photo, ratio(2, 'cover', { maxWidth: 500 }), '500 x 250, cover'],
  [
    'ratio, 10000 pixels per side',
    facts(1000, 10),
    ratio(0.01, 'contain'),
    '100 x 10000, fill, padded',
  ],
  ['ratio, at least one pixel', facts(50, 50), ratio(100, 'cover'), '50 x 1, cover'],
  ['ratio with a crop', photo, ratio(1, 'cover'), '300 x 300, cover', area(0, 0, 400, 300)],
  ['ratio of a turned picture', rotated(6), ratio(2, 'cover'), '500 x 250, cover'],

  ['orientation 6, width only', rotated(6), { width: 250 }, '250 x 500, fill'],
  ['orientation 5, cover', rotated(5), box(800, 800, 'cover'), '500 x 500, cover'],
  ['orientation 3', rotated(3), {}, '1000 x 500'],

  ['maxWidth only', photo, { maxWidth: 500 }, '500 x 334, fill'],
  ['maxWidth over width', photo, { width: 800, maxWidth: 500 }, '500 x 334, fill'],
  [
    'maxWidth keeps the aspect ratio',
    photo,
    box(600, 300, 'cover', { maxWidth: 300 }),
    '300 x 150, cover',
  ],
  ['maxWidth over outside', photo, box(300, 400, 'outside', { maxWidth: 300 }), '300 x 200, fill'],
  ['maxWidth without effect', photo, { width: 300, maxWidth: 500 }, '300 x 200, fill'],

  ['10000 pixels per side', facts(20_000, 100), {}, '10000 x 50, fill'],
  ['10000 pixels per side, portrait', facts(100, 20_000), {}, '50 x 10000, fill'],
  ['40 megapixels', facts(10_000, 10_000), {}, '6324 x 6324, fill'],
  ['12 megapixels in AVIF', facts(8000, 6000), { formats: ['avif'] }, '4000 x 3000, fill'],
  ['4 megapixels in lossless AVIF', facts(8000, 2000), lossless('avif'), '4000 x 1000, fill'],
  ['12 megapixels in lossless WebP', facts(8000, 6000), lossless('webp'), '4000 x 3000, fill'],
  ['12 megapixels of all frames', gif(1000, 1000, 48), lossless('webp'), '500 x 500, fill'],
  ['no pixel limit in JPEG', facts(8000, 5000), lossless('jpeg'), '8000 x 5000'],
  ['40 megapixels, contain', photo, box(10_000, 10_000, 'contain'), '1000 x 1000, padded'],
  [
    'contain, much larger',
    facts(1, 10_000),
    box(10_000, 10_000, 'contain'),
    '6324 x 6324, fill, padded',
  ],

  ['an SVG is enlarged', vector(100, 50), { width: 800 }, '800 x 400, fill'],
  ['an SVG without size', vector(100, 50), {}, '100 x 50'],
  ['an SVG beyond the limits', vector(100_000, 50_000), {}, '8944 x 4472, fill'],
  ['an SVG, cover', vector(10, 1000), box(1000, 1000, 'cover'), '100 x 100, cover'],

  ['limit of all frames', gif(1000, 1000, 100), { formats: ['webp'] }, '1000 x 1000'],
  [
    'limit of all frames, contain',
    gif(10, 1000, 1000),
    box(1000, 1000, 'contain', { formats: ['webp'] }),
    '316 x 316, fill, padded',
  ],

  ['crop', photo, {}, '200 x 100', area(0, 0, 200, 100)],
  ['crop, width only', photo, { width: 50 }, '50 x 25, fill', area(800, 500, 200, 100)],
  ['crop is not enlarged', photo, { width: 400 }, '200 x 100', area(9, 9, 200, 100)],
  ['crop, orientation 6', rotated(6), { height: 50 }, '25 x 50, fill', area(0, 0, 500, 1000)],
  [
    'crop, enlarged',
    facts(9000, 9000),
    { width: 1000, enlarge: true },
    '1000 x 500, fill',
    area(0, 0, 100, 50),
  ],

  ['rotate by 90', photo, { rotate: 90 }, '667 x 1000'],
  ['rotate by 180', photo, { rotate: 180 }, '1000 x 667'],
  ['rotate by 270', photo, { rotate: 270, width: 100 }, '100 x 150, fill'],
  ['crop, rotate by 90', photo, { rotate: 90 }, '10 x 40, fill', area(0, 0, 40, 10)],
  ['rotate by 45', facts(100, 100), { rotate: 45 }, '141 x 141, fill'],
  ['rotate by -12.5', facts(400, 300), { rotate: 347.5 }, '455 x 379, fill'],
  ['rotate by -12.5, width', facts(400, 300), { rotate: 347.5, width: 91 }, '91 x 76, fill'],
  ['rotate by 30, cover', facts(400, 300), box(80, 80, 'cover', { rotate: 30 }), '80 x 80, cover'],
  ['rotate a line by 1', facts(1000, 1), { rotate: 1, width: 10 }, '10 x 1, fill'],

  ['a border', photo, border(1, 2, 3, 4), '1006 x 671, padded'],
  [
    'a border around a width',
    photo,
    { width: 333, ...border(1, 2, 3, 4) },
    '339 x 226, fill, padded',
  ],
  [
    'a border around a box',
    photo,
    box(300, 300, 'contain', border(5, 5, 5, 5)),
    '310 x 310, fill, padded',
  ],
  [
    'a border within maxWidth',
    photo,
    { width: 800, maxWidth: 500, ...border(0, 100, 0, 100) },
    '500 x 267, fill, padded',
  ],
  [
    'a border, 10000 pixels per side',
    facts(8000, 100),
    border(0, 6000, 0, 6000),
    '10000 x 50, fill, padded',
  ],
  [
    'a border, 40 megapixels',
    facts(1000, 1000),
    border(4000, 4000, 4000, 4000),
    '6322 x 6322, fill, padded',
  ],
  [
    'a border larger than maxWidth',
    facts(9, 9),
    { maxWidth: 1, ...border(0, 9, 0, 9) },
    '1 x 1, fill',
  ],

  ['enlarged, width only', small, { width: 200, enlarge: true }, '200 x 100, fill'],
  ['enlarged, cover', small, box(200, 200, 'cover', enlarge), '200 x 200, cover'],
  ['enlarged, contain', small, box(200, 200, 'contain', enlarge), '200 x 200, fill, padded'],
  ['enlarged, fill', small, box(200, 300, 'fill', enlarge), '200 x 300, fill'],
  ['enlarged, inside', small, box(200, 200, 'inside', enlarge), '200 x 100, fill'],
  ['enlarged, outside', small, box(200, 200, 'outside', enlarge), '400 x 200, fill'],
  [
    'enlarged within maxWidth',
    small,
    { width: 3000, enlarge: true, maxWidth: 1000 },
    '1000 x 500, fill',
  ],
  [
    'enlarged and cropped',
    facts(1, 10_000),
    box(10_000, 10_000, 'cover', enlarge),
    '10 x 10, cover',
  ],
  ['one pixel enlarged', facts(1, 1), { width: 10_000, enlarge: true }, '6324 x 6324, fill'],

  ['kept box, cover, larger', photo, box(2000, 2000, 'cover', keep), '1000 x 667'],
  ['kept box, cover, wider', photo, box(2000, 500, 'cover', keep), '1000 x 500, cover'],
  ['kept box, cover, smaller', photo, box(300, 300, 'cover', keep), '300 x 300, cover'],
  ['kept box, contain, larger', photo, box(2000, 2000, 'contain', keep), '2000 x 2000, padded'],
  ['kept box, contain, higher', photo, box(500, 2000, 'contain', keep), '500 x 2000, fill, padded'],
  ['kept box, contain, one side', photo, { width: 2000, fit: 'contain', ...keep }, contained],
  ['kept box, contain, less', photo, { width: 500, fit: 'contain', ...keep }, '500 x 334, fill'],
  ['kept box, fill', photo, box(2000, 500, 'fill', keep), '1000 x 500, fill'],
  ['kept box, inside', photo, box(2000, 2000, 'inside', keep), '1000 x 667'],
  ['kept box, outside', photo, box(2000, 500, 'outside', keep), '1000 x 667'],
  ['kept box, one side', photo, { width: 2000, ...keep }, '1000 x 667'],
  ['kept box, no side', photo, { ...keep, fit: 'contain' }, '1000 x 667'],
  ['kept box, dpr', photo, box(1600, 600, 'cover', keepAt2), '1000 x 375, cover'],
  ['kept box, part of the dpr', photo, box(4000, 600, 'cover', keepAt2), '1000 x 300, cover'],
  ['kept box, contain, dpr', photo, box(4000, 4000, 'contain', keepAt2), '2000 x 2000, padded'],
  [
    'kept box, border at the dpr of the picture',
    photo,
    { ...box(4000, 600, 'cover', keepAt2), ...border(20, 20, 20, 20) },
    '1020 x 320, cover, padded',
  ],
  [
    'kept box within maxWidth',
    photo,
    box(4000, 2000, 'contain', { ...keep, maxWidth: 2000 }),
    '2000 x 1000, padded',
  ],
  ['kept box, SVG', vector(100, 50), box(400, 400, 'contain', keep), '400 x 400, fill, padded'],

  ['one pixel', facts(1, 1), { width: 10 }, '1 x 1'],
  ['one pixel wide', facts(1, 9999), { height: 10 }, '1 x 10, fill'],
  ['very wide', facts(9999, 1), { height: 1, width: 100, fit: 'cover' }, '100 x 1, cover'],
  ['very wide, inside', facts(9999, 3), box(10, 10, 'inside'), '10 x 1, fill'],
];

for (const [what, source, options, planned, crop = null] of rows) {
  const plan = makePlan(source, crop, variant(options), 100 * megapixels);
  const { width, height, resize, border } = plan;
  const steps = [resize?.fit ?? [], border === null ? [] : 'padded'].flat();
  t.equal([`${width} x ${height}`, ...steps].join(', '), planned, what);
}

t.test('opens an SVG at the output scale', async (t) => {
  const scale = (source: SourceFacts, options: Partial<Variant>) =>
    makePlan(source, null, variant(options), 100 * megapixels).scale;
  const drawing = vector(100, 50);
  t.equal(scale(photo, { width: 10 }), null, 'raster images have none');
  t.equal(scale(drawing, {}), 1);
  t.equal(scale(drawing, { width: 800 }), 8);
  t.equal(scale(drawing, { width: 100, height: 100, fit: 'cover' }), 2, 'the cropped sides too');
  t.equal(scale(drawing, { width: 200, height: 200, fit: 'contain' }), 2, 'not the letterbox');
  const narrow = vector(100_000, 10);
  t.equal(scale(narrow, { width: 10 }), 0.1, 'at least one pixel per side');
});

t.test('keeps outputs within the limits', async (t) => {
  const sides = [1, 2, 3, 7, 999, 1000, 6325, 10_000];
  const sizes = sides.flatMap((width) => sides.map((height) => ({ width, height })));
  for (const size of sizes) {
    for (const fit of fitModes) {
      for (const source of [facts(3, 9999), facts(9999, 9999), vector(7, 2)]) {
        const plan = makePlan(source, null, variant({ ...size, fit }), 100 * megapixels);
        const [short = 0, long = 0] = [plan.width, plan.height].sort((a, b) => a - b);
        if (short >= 1 && long <= 10_000 && short * long <= 40 * megapixels) continue;
        t.fail(`${fit} ${JSON.stringify(size)} of ${source.width} x ${source.height}`);
      }
    }
  }
});

t.test('shortens the border for a side rounded up to one pixel', async (t) => {
  const options = variant({ width: 1, ...border(0, 0, 6000, 6000) });
  const { width, height, resize } = makePlan(facts(60, 40), null, options, 400_000);
  t.same([resize?.width, resize?.height], [1, 1]);
  t.ok(width * height <= 400_000, `${width} x ${height}`);
});
