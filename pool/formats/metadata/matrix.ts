export type Row = readonly [number, number, number];
export type Matrix = readonly [Row, Row, Row];

export function product([r, g, b]: Matrix, other: Matrix): Matrix {
  const [x, y, z] = transposed(other);
  const of = (row: Row): Row => [dot(row, x), dot(row, y), dot(row, z)];
  return [of(r), of(g), of(b)];
}

export const transposed = ([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix => [
  [a, d, g],
  [b, e, h],
  [c, f, i],
];

export function dot(row: Row, column: readonly [number, number, number]): number {
  return row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
}

/** Returns null for a singular matrix. */
export function inverted([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix | null {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  if (Math.abs(determinant) < 1e-9) return null;
  const by = (row: Row): Row => [row[0] / determinant, row[1] / determinant, row[2] / determinant];
  return [
    by([e * i - f * h, c * h - b * i, b * f - c * e]),
    by([f * g - d * i, a * i - c * g, c * d - a * f]),
    by([d * h - e * g, b * g - a * h, a * e - b * d]),
  ];
}

/** Multiplies a column by a matrix. */
export const multiplyVector = ([a, b, c]: Matrix, column: Row): Row => [
  dot(a, column),
  dot(b, column),
  dot(c, column),
];
