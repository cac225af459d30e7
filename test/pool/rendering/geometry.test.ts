import t from 'tap';
import type { SourceFacts } from '../../../pool/formats/facts.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import type { Area, Edges, Variant } from '../../../pool/variant.ts';
import { variant } from './pictures.ts';

const megapixels = 1_000_000;

function facts(width: number, height: number, more: Partial<SourceFacts> = {}): SourceFacts {
  return {
    kind: 'jpeg',
    width,
    height,
    orientation: 1,
    frames: 1,
    pages: 1,
    page: null,
    timing: null,
    hasAlpha: false,
    extraSamples: false,
    colour: { model: 'rgb', hasProfile: false, isSrgb: false, deep: false, space: null },
    svg: null,
    gainMap: null,
    ...more,
  };
}

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

const photo = facts(1000, 667);
const rows: readonly Row[] = [
  ['nothing asked', photo, {}, [1000, 667], null],
  ['width alone', photo, { width: 333 }, [333, 222], 'fill'],
  ['height alone', photo, { height: 333 }, [499, 333], 'fill'],
  ['halves are rounded up', facts(1000, 665), { width: 100 }, [100, 67], 'fill'],
  ['never less than one pixel', facts(1000, 2), { width: 10 }, [10, 1], 'fill'],
  ['width alone is not enlarged', photo, { width: 2000 }, [1000, 667], null],
  ['height alone is not enlarged', photo, { height: 2000 }, [1000, 667], null],

  ['cover', photo, { width: 300, height: 300, fit: 'cover' }, [300, 300], 'cover'],
  ['cover, wider', photo, { width: 2000, height: 1000, fit: 'cover' }, [1000, 500], 'cover'],
  [
    'cover, one side larger',
    photo,
    { width: 500, height: 1334, fit: 'cover' },
    [250, 667],
    'cover',
  ],
  ['contain', photo, { width: 300, height: 300, fit: 'contain' }, [300, 300], 'contain'],
  ['contain, larger', photo, { width: 4000, height: 2000, fit: 'contain' }, [1334, 667], 'contain'],
  [
    'contain, one side larger',
    photo,
    { width: 500, height: 2000, fit: 'contain' },
    [500, 2000],
    'contain',
  ],
  ['fill', photo, { width: 300, height: 600, fit: 'fill' }, [300, 600], 'fill'],
  ['fill, larger', photo, { width: 2000, height: 2000, fit: 'fill' }, [667, 667], 'fill'],
  ['inside', photo, { width: 300, height: 300, fit: 'inside' }, [300, 200], 'fill'],
  ['inside, larger', photo, { width: 3000, height: 3000, fit: 'inside' }, [1000, 667], null],
  ['outside', photo, { width: 300, height: 300, fit: 'outside' }, [450, 300], 'fill'],
  ['outside, larger', photo, { width: 900, height: 900, fit: 'outside' }, [1000, 667], null],

  ['turned, width alone', facts(1000, 500, { orientation: 6 }), { width: 250 }, [250, 500], 'fill'],
  [
    'turned, cover',
    facts(1000, 500, { orientation: 5 }),
    { width: 800, height: 800, fit: 'cover' },
    [500, 500],
    'cover',
  ],
  ['half a turn keeps the sides', facts(1000, 500, { orientation: 3 }), {}, [1000, 500], null],

  ['maxWidth alone', photo, { maxWidth: 500 }, [500, 334], 'fill'],
  ['maxWidth over width', photo, { width: 800, maxWidth: 500 }, [500, 334], 'fill'],
  [
    'maxWidth keeps the box’s proportions',
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
  ['maxWidth that is wide enough', photo, { width: 300, maxWidth: 500 }, [300, 200], 'fill'],

  ['10000 pixels a side', facts(20_000, 100), {}, [10_000, 50], 'fill'],
  ['10000 pixels a side, upright', facts(100, 20_000), {}, [50, 10_000], 'fill'],
  ['40 megapixels', facts(10_000, 10_000), {}, [6324, 6324], 'fill'],
  ['12 megapixels in AVIF', facts(8000, 6000), { formats: ['avif'] }, [4000, 3000], 'fill'],
  [
    '4 megapixels in lossless AVIF',
    facts(8000, 2000),
    { formats: ['avif'], lossless: true },
    [4000, 1000],
    'fill',
  ],
  [
    '12 megapixels in lossless WebP',
    facts(8000, 6000),
    { formats: ['webp'], lossless: true },
    [4000, 3000],
    'fill',
  ],
  [
    '12 megapixels of all frames in lossless WebP',
    facts(1000, 1000, { kind: 'gif', frames: 48 }),
    { formats: ['webp'], lossless: true },
    [500, 500],
    'fill',
  ],
  [
    'no such limit in JPEG',
    facts(8000, 5000),
    { formats: ['jpeg'], lossless: true },
    [8000, 5000],
    null,
  ],
  [
    '40 megapixels of a letterbox',
    photo,
    { width: 10_000, height: 10_000, fit: 'contain' },
    [1000, 1000],
    'contain',
  ],
  [
    'a letterbox that is far larger than its picture',
    facts(1, 10_000),
    { width: 10_000, height: 10_000, fit: 'contain' },
    [6324, 6324],
    'contain',
  ],

  ['drawings may be enlarged', facts(100, 50, { kind: 'svg' }), { width: 800 }, [800, 400], 'fill'],
  ['drawings are not enlarged unasked', facts(100, 50, { kind: 'svg' }), {}, [100, 50], null],
  [
    'drawings beyond bounds shrink',
    facts(100_000, 50_000, { kind: 'svg' }),
    {},
    [8944, 4472],
    'fill',
  ],
  [
    'drawings, cover',
    facts(10, 1000, { kind: 'svg' }),
    { width: 1000, height: 1000, fit: 'cover' },
    [100, 100],
    'cover',
  ],
  [
    'SVGs with many surfaces',
    facts(4000, 4000, { kind: 'svg', svg: { surfaces: 127, work: 0 } }),
    {},
    [1024, 1024],
    'fill',
  ],

  [
    'frames count together',
    facts(1000, 1000, { kind: 'gif', frames: 100 }),
    { formats: ['webp'] },
    [1000, 1000],
    null,
  ],
  [
    'frames of a letterbox count together',
    facts(10, 1000, { kind: 'gif', frames: 1000 }),
    { width: 1000, height: 1000, fit: 'contain', formats: ['webp'] },
    [316, 316],
    'contain',
  ],

  ['a part', photo, {}, [200, 100], null, part(0, 0, 200, 100)],
  ['a part, width alone', photo, { width: 50 }, [50, 25], 'fill', part(800, 500, 200, 100)],
  ['a part is not enlarged', photo, { width: 400 }, [200, 100], null, part(9, 9, 200, 100)],
  [
    'a part of a turned picture',
    facts(1000, 500, { orientation: 6 }),
    { height: 50 },
    [25, 50],
    'fill',
    part(0, 0, 500, 1000),
  ],
  [
    'a small part of a large picture, enlarged',
    facts(9000, 9000),
    { width: 1000, enlarge: true },
    [1000, 500],
    'fill',
    part(0, 0, 100, 50),
  ],

  ['a quarter turn', photo, { rotate: 90 }, [667, 1000], null],
  ['half a turn', photo, { rotate: 180 }, [1000, 667], null],
  ['three quarters', photo, { rotate: 270, width: 100 }, [100, 150], 'fill'],
  ['a quarter turn of a part', photo, { rotate: 90 }, [10, 40], 'fill', part(0, 0, 40, 10)],
  ['45 degrees', facts(100, 100), { rotate: 45 }, [141, 141], 'fill'],
  ['-12.5 degrees', facts(400, 300), { rotate: 347.5 }, [455, 379], 'fill'],
  ['an angle and a width', facts(400, 300), { rotate: 347.5, width: 91 }, [91, 76], 'fill'],
  [
    'an angle and a box',
    facts(400, 300),
    { rotate: 30, width: 80, height: 80, fit: 'cover' },
    [80, 80],
    'cover',
  ],
  ['a line at an angle', facts(1000, 1), { rotate: 1, width: 10 }, [10, 1], 'fill'],

  ['a border', photo, { extend: edges(1, 2, 3, 4) }, [1006, 671], null],
  ['a border around a width', photo, { width: 333, extend: edges(1, 2, 3, 4) }, [339, 226], 'fill'],
  [
    'a border around a box',
    photo,
    { width: 300, height: 300, fit: 'contain', extend: edges(5, 5, 5, 5) },
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
    'a border alone would be too wide',
    facts(9, 9),
    { extend: edges(0, 9, 0, 9), maxWidth: 1 },
    [1, 1],
    'fill',
  ],

  ['enlarged, width alone', facts(10, 5), { width: 200, enlarge: true }, [200, 100], 'fill'],
  [
    'enlarged, cover',
    facts(10, 5),
    { width: 200, height: 200, fit: 'cover', enlarge: true },
    [200, 200],
    'cover',
  ],
  [
    'enlarged, contain',
    facts(10, 5),
    { width: 200, height: 200, fit: 'contain', enlarge: true },
    [200, 200],
    'contain',
  ],
  [
    'enlarged, fill',
    facts(10, 5),
    { width: 200, height: 300, fit: 'fill', enlarge: true },
    [200, 300],
    'fill',
  ],
  [
    'enlarged, inside',
    facts(10, 5),
    { width: 200, height: 200, fit: 'inside', enlarge: true },
    [200, 100],
    'fill',
  ],
  [
    'enlarged, outside',
    facts(10, 5),
    { width: 200, height: 200, fit: 'outside', enlarge: true },
    [400, 200],
    'fill',
  ],
  [
    'enlarged within maxWidth',
    facts(10, 5),
    { width: 3000, enlarge: true, maxWidth: 1000 },
    [1000, 500],
    'fill',
  ],
  [
    'what would be cut off an enlarged picture is bounded too',
    facts(1, 10_000),
    { width: 10_000, height: 10_000, fit: 'cover', enlarge: true },
    [10, 10],
    'cover',
  ],
  ['one pixel enlarged', facts(1, 1), { width: 10_000, enlarge: true }, [6324, 6324], 'fill'],

  ['one pixel', facts(1, 1), { width: 10 }, [1, 1], null],
  ['one pixel wide', facts(1, 9999), { height: 10 }, [1, 10], 'fill'],
  ['very wide', facts(9999, 1), { height: 1, width: 100, fit: 'cover' }, [100, 1], 'cover'],
  ['very wide, inside', facts(9999, 3), { width: 10, height: 10, fit: 'inside' }, [10, 1], 'fill'],
];

for (const [what, source, asked, size, fit, content = null] of rows) {
  const plan = makePlan(source, content, variant(asked), 100 * megapixels);
  t.same([plan.width, plan.height], size, what);
  t.equal(plan.resize?.fit ?? null, fit, `${what}: fit`);
}

t.test('a drawing is opened at the resolution that its output needs', async (t) => {
  const scale = (source: SourceFacts, asked: Partial<Variant>) =>
    makePlan(source, null, variant(asked), 100 * megapixels).scale;
  const drawing = facts(100, 50, { kind: 'svg' });
  t.equal(scale(photo, { width: 10 }), null, 'pictures of pixels have none');
  t.equal(scale(drawing, {}), 1);
  t.equal(scale(drawing, { width: 800 }), 8);
  t.equal(scale(drawing, { width: 100, height: 100, fit: 'cover' }), 2, 'the cropped sides too');
  t.equal(scale(drawing, { width: 200, height: 200, fit: 'contain' }), 2, 'not the letterbox');
  const narrow = facts(100_000, 10, { kind: 'svg' });
  t.equal(scale(narrow, { width: 10 }), 0.1, 'no side has less than a pixel');
});

t.test('no output is larger than its bounds, whatever is asked', async (t) => {
  const sides = [1, 2, 3, 7, 999, 1000, 6325, 10_000];
  for (const width of sides) {
    for (const height of sides) {
      for (const fit of ['contain', 'cover', 'fill', 'inside', 'outside'] as const) {
        for (const source of [facts(3, 9999), facts(9999, 9999), facts(7, 2, { kind: 'svg' })]) {
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

t.test('the one pixel that is left of a picture is taken from its border', async (t) => {
  const asked = variant({ width: 1, extend: edges(0, 0, 6000, 6000) });
  const { width, height, resize } = makePlan(facts(60, 40), null, asked, 400_000);
  t.same([resize?.width, resize?.height], [1, 1]);
  t.ok(width * height <= 400_000, `${width} x ${height}`);
});
