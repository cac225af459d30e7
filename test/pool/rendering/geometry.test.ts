import t from 'tap';
import type { SourceFacts } from '../../../pool/formats/facts.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { Area, Edges, Fit, OutputFormat, Variant } from '../../../pool/variant.ts';
import { sourceFacts as facts, variant } from './pictures.ts';

const megapixels = 1_000_000;

type Row = readonly [
  what: string,
  source: SourceFacts,
  asked: Partial<Variant>,
  size: readonly [number, number],
  fit: 'contain' | 'cover' | 'fill' | null,
  content?: Area,
];

const part = (left: number, top: number, width: number, height: number): Area => ({
  left,
  top,
  width,
  height,
});
const edges = (top: number, right: number, bottom: number, left: number): Edges => ({
  top,
  right,
  bottom,
  left,
});
const box = (width: number, height: number, fit: Fit, enlarge = false) => ({
  width,
  height,
  fit,
  enlarge,
});
const vector = (width: number, height: number) => facts(width, height, { kind: 'svg' });
const gif = (width: number, height: number, frames: number) =>
  facts(width, height, { kind: 'gif', frames });
const lossless = (format: OutputFormat) => ({ formats: [format], lossless: true });

const photo = facts(1000, 667);
const turned = facts(1000, 500, { orientation: 6 });
const small = facts(10, 5);
const rows: readonly Row[] = [
  ['no parameters', photo, {}, [1000, 667], null],
  ['width only', photo, { width: 333 }, [333, 222], 'fill'],
  ['height only', photo, { height: 333 }, [499, 333], 'fill'],
  ['halves are rounded up', facts(1000, 665), { width: 100 }, [100, 67], 'fill'],
  ['at least one pixel', facts(1000, 2), { width: 10 }, [10, 1], 'fill'],
  ['width is not enlarged', photo, { width: 2000 }, [1000, 667], null],
  ['height is not enlarged', photo, { height: 2000 }, [1000, 667], null],

  ['cover', photo, box(300, 300, 'cover'), [300, 300], 'cover'],
  ['cover, wider', photo, box(2000, 1000, 'cover'), [1000, 500], 'cover'],
  ['cover, one side larger', photo, box(500, 1334, 'cover'), [250, 667], 'cover'],
  ['contain', photo, box(300, 300, 'contain'), [300, 300], 'contain'],
  ['contain, larger', photo, box(4000, 2000, 'contain'), [1334, 667], 'contain'],
  ['contain, one side larger', photo, box(500, 2000, 'contain'), [500, 2000], 'contain'],
  ['fill', photo, box(300, 600, 'fill'), [300, 600], 'fill'],
  ['fill, larger', photo, box(2000, 2000, 'fill'), [667, 667], 'fill'],
  ['inside', photo, box(300, 300, 'inside'), [300, 200], 'fill'],
  ['inside, larger', photo, box(3000, 3000, 'inside'), [1000, 667], null],
  ['outside', photo, box(300, 300, 'outside'), [450, 300], 'fill'],
  ['outside, larger', photo, box(900, 900, 'outside'), [1000, 667], null],

  ['orientation 6, width only', turned, { width: 250 }, [250, 500], 'fill'],
  [
    'orientation 5, cover',
    facts(1000, 500, { orientation: 5 }),
    box(800, 800, 'cover'),
    [500, 500],
    'cover',
  ],
  ['orientation 3', facts(1000, 500, { orientation: 3 }), {}, [1000, 500], null],

  ['maxWidth only', photo, { maxWidth: 500 }, [500, 334], 'fill'],
  ['maxWidth over width', photo, { width: 800, maxWidth: 500 }, [500, 334], 'fill'],
  [
    'maxWidth keeps the aspect ratio',
    photo,
    { width: 600, height: 300, maxWidth: 300, fit: 'cover' },
    [300, 150],
    'cover',
  ],
  [
    'maxWidth over outside',
    photo,
    { width: 300, height: 400, maxWidth: 300, fit: 'outside' },
    [300, 200],
    'fill',
  ],
  ['maxWidth without effect', photo, { width: 300, maxWidth: 500 }, [300, 200], 'fill'],

  ['10000 pixels per side', facts(20_000, 100), {}, [10_000, 50], 'fill'],
  ['10000 pixels per side, portrait', facts(100, 20_000), {}, [50, 10_000], 'fill'],
  ['40 megapixels', facts(10_000, 10_000), {}, [6324, 6324], 'fill'],
  ['12 megapixels in AVIF', facts(8000, 6000), { formats: ['avif'] }, [4000, 3000], 'fill'],
  ['4 megapixels in lossless AVIF', facts(8000, 2000), lossless('avif'), [4000, 1000], 'fill'],
  ['12 megapixels in lossless WebP', facts(8000, 6000), lossless('webp'), [4000, 3000], 'fill'],
  [
    '12 megapixels of all frames in lossless WebP',
    gif(1000, 1000, 48),
    lossless('webp'),
    [500, 500],
    'fill',
  ],
  ['no pixel limit in JPEG', facts(8000, 5000), lossless('jpeg'), [8000, 5000], null],
  ['40 megapixels of a letterbox', photo, box(10_000, 10_000, 'contain'), [1000, 1000], 'contain'],
  [
    'a letterbox much larger than its image',
    facts(1, 10_000),
    box(10_000, 10_000, 'contain'),
    [6324, 6324],
    'contain',
  ],

  ['an SVG is enlarged', vector(100, 50), { width: 800 }, [800, 400], 'fill'],
  ['an SVG without size', vector(100, 50), {}, [100, 50], null],
  ['an SVG beyond the limits', vector(100_000, 50_000), {}, [8944, 4472], 'fill'],
  ['an SVG, cover', vector(10, 1000), box(1000, 1000, 'cover'), [100, 100], 'cover'],
  [
    'an SVG with many surfaces',
    facts(4000, 4000, { kind: 'svg', svg: { surfaces: 127, work: 0 } }),
    {},
    [1024, 1024],
    'fill',
  ],

  ['limit of all frames', gif(1000, 1000, 100), { formats: ['webp'] }, [1000, 1000], null],
  [
    'limit of all frames, contain',
    gif(10, 1000, 1000),
    { ...box(1000, 1000, 'contain'), formats: ['webp'] },
    [316, 316],
    'contain',
  ],

  ['crop', photo, {}, [200, 100], null, part(0, 0, 200, 100)],
  ['crop, width only', photo, { width: 50 }, [50, 25], 'fill', part(800, 500, 200, 100)],
  ['crop is not enlarged', photo, { width: 400 }, [200, 100], null, part(9, 9, 200, 100)],
  ['crop, orientation 6', turned, { height: 50 }, [25, 50], 'fill', part(0, 0, 500, 1000)],
  [
    'crop, enlarged',
    facts(9000, 9000),
    { width: 1000, enlarge: true },
    [1000, 500],
    'fill',
    part(0, 0, 100, 50),
  ],

  ['rotate by 90', photo, { rotate: 90 }, [667, 1000], null],
  ['rotate by 180', photo, { rotate: 180 }, [1000, 667], null],
  ['rotate by 270', photo, { rotate: 270, width: 100 }, [100, 150], 'fill'],
  ['crop, rotate by 90', photo, { rotate: 90 }, [10, 40], 'fill', part(0, 0, 40, 10)],
  ['rotate by 45', facts(100, 100), { rotate: 45 }, [141, 141], 'fill'],
  ['rotate by -12.5', facts(400, 300), { rotate: 347.5 }, [455, 379], 'fill'],
  ['rotate by an angle, width', facts(400, 300), { rotate: 347.5, width: 91 }, [91, 76], 'fill'],
  [
    'rotate by an angle, cover',
    facts(400, 300),
    { rotate: 30, width: 80, height: 80, fit: 'cover' },
    [80, 80],
    'cover',
  ],
  ['rotate a line by an angle', facts(1000, 1), { rotate: 1, width: 10 }, [10, 1], 'fill'],

  ['a border', photo, { extend: edges(1, 2, 3, 4) }, [1006, 671], null],
  ['a border around a width', photo, { width: 333, extend: edges(1, 2, 3, 4) }, [339, 226], 'fill'],
  [
    'a border around a box',
    photo,
    { ...box(300, 300, 'contain'), extend: edges(5, 5, 5, 5) },
    [310, 310],
    'contain',
  ],
  [
    'a border within maxWidth',
    photo,
    { width: 800, extend: edges(0, 100, 0, 100), maxWidth: 500 },
    [500, 267],
    'fill',
  ],
  [
    'a border within 10000 pixels a side',
    facts(8000, 100),
    { extend: edges(0, 6000, 0, 6000) },
    [10_000, 50],
    'fill',
  ],
  [
    'a border within 40 megapixels',
    facts(1000, 1000),
    { extend: edges(4000, 4000, 4000, 4000) },
    [6322, 6322],
    'fill',
  ],
  [
    'a border larger than maxWidth',
    facts(9, 9),
    { extend: edges(0, 9, 0, 9), maxWidth: 1 },
    [1, 1],
    'fill',
  ],

  ['enlarged, width only', small, { width: 200, enlarge: true }, [200, 100], 'fill'],
  ['enlarged, cover', small, box(200, 200, 'cover', true), [200, 200], 'cover'],
  ['enlarged, contain', small, box(200, 200, 'contain', true), [200, 200], 'contain'],
  ['enlarged, fill', small, box(200, 300, 'fill', true), [200, 300], 'fill'],
  ['enlarged, inside', small, box(200, 200, 'inside', true), [200, 100], 'fill'],
  ['enlarged, outside', small, box(200, 200, 'outside', true), [400, 200], 'fill'],
  [
    'enlarged within maxWidth',
    small,
    { width: 3000, enlarge: true, maxWidth: 1000 },
    [1000, 500],
    'fill',
  ],
  [
    'cropped pixels of an enlarged image are limited',
    facts(1, 10_000),
    box(10_000, 10_000, 'cover', true),
    [10, 10],
    'cover',
  ],
  ['one pixel enlarged', facts(1, 1), { width: 10_000, enlarge: true }, [6324, 6324], 'fill'],

  ['one pixel', facts(1, 1), { width: 10 }, [1, 1], null],
  ['one pixel wide', facts(1, 9999), { height: 10 }, [1, 10], 'fill'],
  ['very wide', facts(9999, 1), { height: 1, width: 100, fit: 'cover' }, [100, 1], 'cover'],
  ['very wide, inside', facts(9999, 3), box(10, 10, 'inside'), [10, 1], 'fill'],
];

for (const [what, source, asked, size, fit, content = null] of rows) {
  const plan = makePlan(source, content, variant(asked), 100 * megapixels);
  t.same([plan.width, plan.height], size, what);
  t.equal(plan.resize?.fit ?? null, fit, `${what}: fit`);
}

t.test('an SVG is opened at the scale of its output', async (t) => {
  const scale = (source: SourceFacts, asked: Partial<Variant>) =>
    makePlan(source, null, variant(asked), 100 * megapixels).scale;
  const drawing = vector(100, 50);
  t.equal(scale(photo, { width: 10 }), null, 'raster images have none');
  t.equal(scale(drawing, {}), 1);
  t.equal(scale(drawing, { width: 800 }), 8);
  t.equal(scale(drawing, { width: 100, height: 100, fit: 'cover' }), 2, 'the cropped sides too');
  t.equal(scale(drawing, { width: 200, height: 200, fit: 'contain' }), 2, 'not the letterbox');
  const narrow = vector(100_000, 10);
  t.equal(scale(narrow, { width: 10 }), 0.1, 'at least one pixel per side');
});

t.test('outputs are within the limits', async (t) => {
  const sides = [1, 2, 3, 7, 999, 1000, 6325, 10_000];
  for (const width of sides) {
    for (const height of sides) {
      for (const fit of ['contain', 'cover', 'fill', 'inside', 'outside'] as const) {
        for (const source of [facts(3, 9999), facts(9999, 9999), vector(7, 2)]) {
          const plan = makePlan(source, null, variant({ width, height, fit }), 100 * megapixels);
          const sound =
            plan.width >= 1 &&
            plan.height >= 1 &&
            plan.width <= 10_000 &&
            plan.height <= 10_000 &&
            plan.width * plan.height <= 40 * megapixels;
          if (!sound) t.fail(`${width} x ${height} ${fit} of ${source.width} x ${source.height}`);
        }
      }
    }
  }
});

t.test('a side rounded up to one pixel shortens the border', async (t) => {
  const asked = variant({ width: 1, extend: edges(0, 0, 6000, 6000) });
  const { width, height, resize } = makePlan(facts(60, 40), null, asked, 400_000);
  t.same([resize?.width, resize?.height], [1, 1]);
  t.ok(width * height <= 400_000, `${width} x ${height}`);
});
