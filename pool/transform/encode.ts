import type { Sharp } from 'sharp';
import type { OutputFormat } from './variant.ts';

interface Encoding {
  readonly contentType: string;
  /** True when it can hold more than one frame as sharp writes it. */
  readonly animates: boolean;
  /** True when it can hold transparency. */
  readonly alpha: boolean;
  /** @param quality 1..100, as asked for: the scale is JPEG's */
  encode(image: Sharp, quality: number, animated: boolean): Sharp;
}

/**
 * How each format is written. A client waits while this runs, so speed was weighed against bytes:
 * five pictures at 800 px wide, bytes and times compared at equal SSIM (luma, 8 x 8 windows), with
 * JPEG at quality 80 as the measure (43 ms for the five, 404 KB).
 */
export const encodings = {
  // Effort 0 with 4:2:0: 0.76 x the bytes in 3.5 x the time. Effort 1: 0.70 x in 11 x, effort 2:
  // 0.68 x in 19 x, sharp's own 4 in hundreds of times. 4:4:4, sharp's own, costs 1.7 x the time of
  // 4:2:0 for 2 % more bytes.
  avif: {
    contentType: 'image/avif',
    animates: false,
    alpha: true,
    encode: (image, quality) =>
      image.avif({ quality: avifQuality(quality), effort: 0, chromaSubsampling: '4:2:0' }),
  },
  // Effort 2: 0.88 x the bytes in 3 x the time. Effort 3 and sharp's own 4: 0.82 x in 5.6 x, effort
  // 0: 1.01 x in 2 x. Quality is JPEG's within 5 points over the whole range, so it is not mapped.
  // `mixed` lets each frame choose lossless: half the bytes for drawn animations, 10 % less for
  // others, in about the same time.
  webp: {
    contentType: 'image/webp',
    animates: true,
    alpha: true,
    encode: (image, quality, animated) => image.webp({ quality, effort: 2, mixed: animated }),
  },
  // mozjpeg: 5 x the time for a sixth fewer bytes. Progressive: 4 % fewer bytes in 1.4 x the time,
  // and the whole picture in memory.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    alpha: false,
    encode: (image, quality) =>
      image.jpeg({ quality, chromaSubsampling: '4:2:0', progressive: false, mozjpeg: false }),
  },
  // Lossless, so quality has no part in it. Row filters at level 4: a photo has 0.65 x the bytes of
  // sharp's own level 6 without them in 1.3 x the time, a diagram 0.7 x.
  png: {
    contentType: 'image/png',
    animates: false,
    alpha: true,
    encode: (image) => image.png({ compressionLevel: 4, adaptiveFiltering: true }),
  },
  // Effort 3 writes a still picture in a quarter of the time of 7, sharp's own, with 13 % more
  // bytes; for animations 7 takes no longer and saves up to a third.
  gif: {
    contentType: 'image/gif',
    animates: true,
    alpha: true,
    encode: (image, _quality, animated) => image.gif({ effort: animated ? 7 : 3 }),
  },
} as const satisfies Record<OutputFormat, Encoding>;

/**
 * JPEG's quality to the AVIF quality (effort 0, 4:2:0) that has the same SSIM on average over the
 * five pictures; between the points it is a straight line. A first approximation.
 */
const avifCurve = [
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
] as const;

function avifQuality(quality: number): number {
  let [fromX, fromY]: readonly [number, number] = avifCurve[0];
  for (const [x, y] of avifCurve) {
    if (quality <= x) {
      return x === fromX ? y : Math.round(fromY + ((quality - fromX) / (x - fromX)) * (y - fromY));
    }
    [fromX, fromY] = [x, y];
  }
  return fromY;
}
