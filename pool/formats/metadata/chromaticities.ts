import { inverted, type Matrix, multiplyVector, product, type Row, transposed } from './matrix.ts';
import { d50, type Primaries } from './written-profile.ts';

/** CIE 1931 x and y. */
export type Chromaticity = readonly [x: number, y: number];

/** The cones' response to XYZ (Bradford; ICC.1:2022, annex E). */
const bradford: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];

/** More than the XYZ of any display. */
const maxXyz = 4;

/**
 * Returns primaries for chromaticities and a white point, adapted to the profiles' white point.
 *
 * @returns null if no display could have them
 */
export function computePrimaries(
  white: Chromaticity,
  colours: readonly [Chromaticity, Chromaticity, Chromaticity],
): Primaries['colours'] | null {
  const rows = colours.map(xyz) as [Row, Row, Row];
  const shares = inverted(transposed(rows));
  const cones = inverted(bradford);
  if (shares === null || cones === null) return null;
  const amounts = multiplyVector(shares, xyz(white));
  const from = multiplyVector(bradford, xyz(white));
  const to = multiplyVector(bradford, d50);
  const scale: Matrix = [
    [to[0] / from[0], 0, 0],
    [0, to[1] / from[1], 0],
    [0, 0, to[2] / from[2]],
  ];
  const adaptation = product(cones, product(scale, bradford));
  const [red, green, blue] = rows.map((colour, index) =>
    multiplyVector(adaptation, scaled(colour, amounts[index] ?? 0)),
  );
  if (!red || !green || !blue) return null;
  const isDisplay = [...red, ...green, ...blue].every((value) => Math.abs(value) < maxXyz);
  return isDisplay ? [red, green, blue] : null;
}

const xyz = ([x, y]: Chromaticity): Row => [x / y, 1, (1 - x - y) / y];
const scaled = ([x, y, z]: Row, factor: number): Row => [x * factor, y * factor, z * factor];
