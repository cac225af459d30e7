import t from 'tap';
import {
  aheadOf,
  bytesAt,
  bytesRatio,
  type CurvePoint,
  paretoFront,
  qualityNearest,
} from '../../../bench/scenarios/quality/curves.ts';
import { fastestOf } from '../../../bench/scenarios/rendering.ts';

const point = (quality: number, score: number, bytes: number): CurvePoint => ({
  quality,
  score,
  bytes,
});
const near = (one: number | null, other: number) => Math.abs((one ?? Number.NaN) - other) < 1e-9;

t.test('bytes at a score are interpolated in their logarithm', async (t) => {
  const curve = [point(90, 80, 4_000), point(60, 60, 1_000), point(75, 70, 2_000)];
  t.ok(near(bytesAt(curve, 75), 2_000 * Math.SQRT2));
  t.ok(near(bytesAt(curve, 70), 2_000));
  t.same([bytesAt(curve, 59), bytesAt(curve, 81), bytesAt([], 70)], [null, null, null]);
});

t.test('bytes are compared at the score of each photograph', async (t) => {
  const own = [
    { score: 70, bytes: 1_000 },
    { score: 80, bytes: 8_000 },
    { score: 99, bytes: 9_000 },
  ];
  const curve = [point(60, 60, 1_000), point(75, 70, 2_000), point(90, 80, 4_000)];
  const found = bytesRatio(own, [curve, curve, curve]);
  t.ok(near(found.ratio, 1), 'the geometric mean of 0.5 and 2');
  t.match(found, { least: 0.5, most: 2, count: 2 }, 'without the one outside of the curve');
  t.ok(Number.isNaN(bytesRatio(own, [[], [], []]).ratio));
});

t.test('the quality nearest to a mean score is an interpolated integer', async (t) => {
  const curves = [
    [point(60, 50, 1), point(80, 70, 1)],
    [point(60, 70, 1), point(80, 90, 1)],
  ];
  t.same(qualityNearest(curves, 72.2), { quality: 72, reached: true });
  t.same(qualityNearest(curves, 90), { quality: 80, reached: false });
  t.same(qualityNearest(curves, 10), { quality: 60, reached: false });
});

t.test('the Pareto front has the servers that no other beats in both', async (t) => {
  const at = (name: string, bytes: number, perSecond: number) => ({ name, bytes, perSecond });
  const [small, fast, both] = [at('small', 1, 1), at('fast', 9, 9), at('both', 5, 5)];
  const behind = at('behind', 6, 4);
  const all = [small, behind, fast, both, at('unknown', 2, Number.NaN)];
  t.same(paretoFront(all), [small, fast, both]);
  t.same(aheadOf(behind, all), [both]);
  const alike = [small, at('same', 1, 1), at('as small', 1, 2), at('as fast', 2, 2)];
  t.same(paretoFront(alike), alike, 'better in one property only');
  const rates = new Map([
    ['slow', [1, 2, 3]],
    ['none', [Number.NaN]],
    ['fast', [3, Number.NaN, 4]],
  ]);
  t.equal(fastestOf(rates), 'fast');
  t.equal(fastestOf(new Map()), undefined);
});
