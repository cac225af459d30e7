/**
 * Requested quality is on JPEG's scale. These curves convert it to the qualities of the other
 * encoders, at the service's settings, with the same SSIM: the mean over three photographs 400, 800
 * and 1600 px wide (luma, pixel by pixel, Gaussian windows of 11 x 11), interpolated linearly
 * between measured qualities, as printed by `npm run bench:encoders -- --calibrate`. Single images
 * differ by some points. Below 10 both formats exceed JPEG's SSIM, and from 95 to 100 SSIM hardly
 * changes: there the curves are only monotonic.
 */
type Curve = readonly (readonly [requested: number, own: number])[];

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
  return interpolate(avif, quality);
}

/** @param quality 1..100 on JPEG's scale */
export function webpQuality(quality: number): number {
  return interpolate(webp, quality);
}

/** Linear interpolation, rounded because the encoders take integers. */
function interpolate(curve: Curve, quality: number): number {
  const after = curve.findIndex(([requested]) => quality <= requested);
  const [highX, highY] = curve.at(after) ?? [100, 100];
  const [lowX, lowY] = curve[after - 1] ?? [highX, highY];
  if (highX === lowX) return highY;
  return Math.round(lowY + ((quality - lowX) / (highX - lowX)) * (highY - lowY));
}
