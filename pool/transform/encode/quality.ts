type Point = readonly [asked: number, quality: number];

const avifCurve: readonly Point[] = [
  [1, 4],
  [10, 19],
  [20, 33],
  [30, 40],
  [40, 45],
  [50, 49],
  [60, 53],
  [70, 59],
  [80, 67],
  [90, 81],
  [95, 91],
  [100, 100],
];
const webpCurve: readonly Point[] = [
  [1, 1],
  [100, 100],
];

export function avifQuality(quality: number): number {
  return along(avifCurve, quality);
}

export function webpQuality(quality: number): number {
  return along(webpCurve, quality);
}

/** The straight line between the two points around. */
function along(curve: readonly Point[], quality: number): number {
  const after = curve.findIndex(([asked]) => quality <= asked);
  const [highX, highY] = curve.at(after) ?? [100, 100];
  const [lowX, lowY] = curve[after - 1] ?? [highX, highY];
  if (highX === lowX) return highY;
  return Math.round(lowY + ((quality - lowX) / (highX - lowX)) * (highY - lowY));
}
