import t from 'tap';
import type { Fit } from '../../../pool/variant.ts';
import { openPool, patient } from '../execution/pools.ts';
import {
  blue,
  green,
  near,
  noise,
  pixels,
  quarters,
  red,
  shared,
  variant,
  yellow,
} from './pictures.ts';

const source = shared(await quarters(400, 200).png().toBuffer());
const pool = openPool(t);
const clear = [0, 0, 0, 0];

const rows: readonly {
  fit: Fit;
  size: readonly [number, number];
  points: readonly (readonly [x: number, y: number, colour: readonly number[]])[];
}[] = [
  {
    fit: 'cover',
    size: [100, 100],
    points: [
      [2, 2, red],
      [97, 2, green],
      [2, 97, blue],
      [97, 97, yellow],
    ],
  },
  {
    fit: 'contain',
    size: [100, 100],
    points: [
      [50, 10, clear],
      [50, 90, clear],
      [10, 40, red],
      [90, 60, yellow],
    ],
  },
  {
    fit: 'fill',
    size: [100, 100],
    points: [
      [10, 10, red],
      [90, 10, green],
      [10, 90, blue],
      [90, 90, yellow],
    ],
  },
  {
    fit: 'inside',
    size: [100, 50],
    points: [
      [10, 10, red],
      [90, 40, yellow],
    ],
  },
  {
    fit: 'outside',
    size: [200, 100],
    points: [
      [10, 10, red],
      [190, 90, yellow],
    ],
  },
];

for (const { fit, size, points } of rows) {
  t.test(fit, async (t) => {
    const asked = variant({ width: 100, height: 100, fit });
    const made = await pool.transform(source, asked, patient);
    const seen = await pixels(made.body);
    t.same([seen.width, seen.height], size, 'has the size that was asked for');
    t.same([made.width, made.height], size, 'and tells it');
    for (const [x, y, colour] of points) {
      t.ok(near(seen.at(x, y), colour), `${x}, ${y} is ${colour}`, { found: seen.at(x, y) });
    }
  });
}

t.test('nothing is scaled up, and the asked proportions stay', async (t) => {
  for (const fit of ['cover', 'contain', 'fill'] as const) {
    const asked = variant({ width: 1000, height: 1000, fit });
    const { width, height } = await pool.transform(source, asked, patient);
    t.same([width, height], fit === 'contain' ? [400, 400] : [200, 200], fit);
  }
  const asked = variant({ width: 1000, height: 1000, fit: 'contain' });
  const seen = await pixels((await pool.transform(source, asked, patient)).body);
  t.ok(near(seen.at(199, 199), red), 'the picture in the letterbox has its natural size');
  t.ok(near(seen.at(200, 100), green));
  t.ok(near(seen.at(0, 99), clear));
  t.ok(near(seen.at(0, 100), red));
});

t.test('sizes that do not divide come out as planned', async (t) => {
  const odd = shared(await noise(317, 211).jpeg().toBuffer());
  for (const width of [1, 2, 3, 31, 100, 199, 316]) {
    for (const fit of ['cover', 'contain', 'fill'] as const) {
      const asked = variant({ width, height: 97, fit });
      const made = await pool.transform(odd, asked, patient);
      const seen = await pixels(made.body);
      t.same([made.width, made.height], [width, 97], `${fit} ${width}`);
      t.same([seen.width, seen.height], [width, 97]);
    }
    const made = await pool.transform(odd, variant({ width }), patient);
    t.same([made.width, made.height], [width, Math.max(1, Math.round((width * 211) / 317))]);
  }
});

t.test('blur softens edges and keeps the size', async (t) => {
  const made = await pool.transform(source, variant({ blur: 10 }), patient);
  const seen = await pixels(made.body);
  t.same([seen.width, seen.height], [400, 200]);
  t.ok(near(seen.at(199, 20), [128, 128, 0], 20), 'red and green mix at the edge');
  t.ok(near(seen.at(20, 20), red), 'far from it nothing changes');
});
