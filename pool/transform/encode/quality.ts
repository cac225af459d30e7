/**
 * Quality is asked for on JPEG's scale. These are the qualities of the other encoders, at the service's
 * own settings, that have the same SSIM: the mean over three photographs at 400, 800 and 1600 px wide
 * (luma, pixel by pixel, Gaussian windows of 11 x 11), read off a straight line between two measured
 * qualities, as `npm run bench:encoders -- --calibrate` prints them. Single pictures differ by some
 * points. Below 10 both look better than JPEG can: there the curves only have to fall. So does the
 * stretch from 95 to 100, where SSIM hardly changes.
 */
type Curve = readonly (readonly [asked: number, own: number])[];

const avif: Curve = [
  [1, 1],
  [5, 4],
  [10, 14],
  [20, 32],
  [30, 43],
  [40, 49],
  [50, 54],
  [60, 58],
  [70, 64],
  [80, 74],
  [90, 84],
  [95, 89],
  [100, 100],
];

const webp: Curve = [
  [1, 1],
  [10, 4],
  [20, 14],
  [30, 30],
  [40, 46],
  [50, 63],
  [60, 75],
  [70, 81],
  [80, 86],
  [90, 92],
  [95, 97],
  [100, 100],
];

/** @param quality 1..100 on JPEG's scale */
export function avifQuality(quality: number): number {
  return along(avif, quality);
}

/** @param quality 1..100 on JPEG's scale */
export function webpQuality(quality: number): number {
  return along(webp, quality);
}

/** On the straight line between the two points around; whole, as the encoders want it. */
function along(curve: Curve, quality: number): number {
  const after = curve.findIndex(([asked]) => quality <= asked);
  const [highX, highY] = curve.at(after) ?? [100, 100];
  const [lowX, lowY] = curve[after - 1] ?? [highX, highY];
  if (highX === lowX) return highY;
  return Math.round(lowY + ((quality - lowX) / (highX - lowX)) * (highY - lowY));
}
