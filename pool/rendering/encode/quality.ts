/** Encoder settings that use their own quality scale; each needs a separate curve. */
export type Mode =
  | 'jpeg'
  | 'jpegFull'
  | 'webp'
  | 'webpSharp'
  | 'avif'
  | 'avifFlat'
  | 'avifGraphic'
  | 'jxl';

/** Output pixels of the curves' columns, as measured. */
const columns = [25_000, 100_000, 400_000, 1_600_000] as const;

/** Qualities on the encoder's scale for the requested ones, by the columns. */
interface Curve {
  readonly requested: readonly number[];
  readonly encoder: readonly (readonly number[])[];
}

const requested = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100];

const avif: Curve = {
  requested,
  encoder: [
    [1, 18, 35, 41, 45, 50, 53, 58, 64, 72, 82, 100],
    [1, 14, 32, 40, 44, 49, 53, 58, 66, 75, 86, 100],
    [1, 10, 30, 39, 43, 48, 53, 58, 66, 78, 87, 100],
    [1, 8, 28, 37, 42, 48, 53, 58, 67, 79, 86, 100],
  ],
};

/**
 * Flat images, at any size: 28 at 400 px, 16 at 200 and 17 at 800 score a mean SSIMULACRA2 of up to
 * 10 above JPEG's up to q=80 (bench/encoders at commit 70454193).
 */
const avifFlat: Curve = {
  requested,
  encoder: columns.map(() => [1, 12, 28, 36, 42, 46, 50, 55, 62, 72, 83, 100]),
};

/**
 * The requested quality is on the scale of JPEG with the standard's tables (Annex K) and 4:2:0.
 * These curves convert it to each encoder's quality with the same SSIMULACRA2 at the service's
 * settings: means over 28 photographs (21 at 1600 px) with a longer side of 200, 400, 800 and 1600
 * px, listed in bench/encoders at commit 70454193, whose `npm run bench:encoders -- --calibrate`
 * prints the points. WebP and AVIF qualities have steps, so their points were then changed by up to
 * 4, by the scores of the service's encoder on these, on ten more photographs and on 35 others (14
 * at 1600 px). JPEG with our own table and 4:2:0 differs from the scale by at most 2 and needs no
 * curve. Below 10 and from 95 to 100 the curves are only monotonic.
 */
const curves: Readonly<Partial<Record<Mode, Curve>>> = {
  jpegFull: {
    requested,
    encoder: [
      [1, 10, 19, 27, 33, 40, 45, 56, 67, 81, 88, 100],
      [1, 10, 19, 28, 35, 43, 50, 61, 72, 84, 89, 100],
      [1, 10, 18, 27, 36, 43, 51, 63, 74, 85, 90, 100],
      [1, 10, 18, 27, 36, 44, 52, 63, 73, 85, 90, 100],
    ],
  },
  webp: {
    requested,
    encoder: [
      [1, 3, 14, 29, 41, 52, 61, 74, 81, 89, 96, 100],
      [1, 3, 14, 29, 42, 56, 64, 77, 84, 91, 97, 100],
      [1, 3, 13, 28, 44, 58, 69, 79, 86, 92, 98, 100],
      [1, 3, 13, 30, 46, 61, 72, 81, 87, 94, 98, 100],
    ],
  },
  webpSharp: {
    requested: [1, 30, 40, 50, 60, 70, 80, 90, 95, 100],
    encoder: [
      [1, 22, 31, 43, 54, 66, 77, 86, 92, 100],
      [1, 22, 33, 49, 60, 74, 81, 89, 94, 100],
      [1, 22, 36, 53, 65, 77, 83, 91, 95, 100],
      [1, 22, 37, 54, 66, 78, 85, 92, 96, 100],
    ],
  },
  avif,
  // Converts to libvips' quality, which sets libjxl's distance: fitted like the others with 14 of
  // the 28 (10 at 800 px, 4 at 1600), then raised by up to 3 by the scores of 12 others, and
  // checked with 20 more. Below 20 the scores exceed JPEG's.
  jxl: {
    requested,
    encoder: [
      [1, 9, 18, 30, 39, 50, 57, 66, 75, 83, 88, 100],
      [1, 9, 17, 29, 40, 52, 60, 68, 78, 85, 90, 100],
      [1, 8, 16, 29, 39, 52, 60, 69, 79, 86, 91, 100],
      [1, 8, 16, 29, 39, 52, 60, 70, 80, 87, 93, 100],
    ],
  },
  avifFlat,
  avifGraphic: avifFlat,
};

/**
 * @param quality 1..100 on JPEG's scale
 * @param pixels of the output
 * @returns 1..100, whole, on the encoder's own scale
 */
export function encoderQuality(mode: Mode, quality: number, pixels: number): number {
  const curve = curves[mode];
  if (curve === undefined) return quality;
  const { low, part } = findSegment(curve.requested, quality);
  return Math.round(interpolate(bySize(curve, low, pixels), bySize(curve, low + 1, pixels), part));
}

/**
 * Returns the segment of a piecewise linear function that contains `x`: its first point, and the
 * fraction before `x`.
 */
export function findSegment(xs: readonly number[], x: number): { low: number; part: number } {
  const high = Math.max(
    1,
    xs.findIndex((at) => x <= at),
  );
  const [from = 1, to = 100] = xs.slice(high - 1, high + 1);
  return { low: high - 1, part: (x - from) / (to - from) };
}

/**
 * Returns a curve's value at a point: linear in the logarithm of the pixels, and constant beyond
 * the outer columns.
 */
function bySize({ encoder }: Curve, point: number, pixels: number): number {
  const at = Math.log(Math.max(1, pixels) / columns[0]) / Math.log(4);
  const within = Math.min(Math.max(at, 0), columns.length - 1);
  const column = Math.min(Math.floor(within), columns.length - 2);
  return interpolate(
    encoder[column]?.[point] ?? 0,
    encoder[column + 1]?.[point] ?? 0,
    within - column,
  );
}

export const interpolate = (from: number, to: number, part: number): number =>
  from + part * (to - from);
