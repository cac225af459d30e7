import type { Sharp } from 'sharp';
import type { OutputFormat } from './variant.ts';

export interface EncodeOptions {
  /** 1..100, as asked for: the scale is JPEG's. */
  readonly quality: number;
  /** Not a pixel is changed, where the format can do that; `quality` then has no part in it. */
  readonly lossless: boolean;
  /** True when the picture holds all frames of an animation. */
  readonly animated: boolean;
}

interface Encoding {
  readonly contentType: string;
  /** True when it can hold more than one frame as sharp writes it. */
  readonly animates: boolean;
  /** True when it can hold transparency. */
  readonly alpha: boolean;
  encode(image: Sharp, options: EncodeOptions): Sharp;
}

/**
 * How each format is written. A client waits while this runs, so speed was weighed against bytes.
 * AVIF and WebP: four photos and a drawing at 800 px wide, bytes and times at the SSIM (luma, 8 x 8
 * windows) of JPEG at quality 80, which took 43 ms and 404 KB for the five. One run on a busy
 * machine: trust the ratios, and those roughly.
 */
export const encodings = {
  // 4:2:0, effort 0: 0.76 x JPEG's bytes in 3.6 x its time. Effort 1: 0.70 x in 11 x. In 4:4:4,
  // sharp's own, effort 0 is 0.78 x in 6 x and effort 2 0.68 x in 19 x. sharp's own effort 4 was
  // about 70 x on one photo at quality 50.
  avif: {
    contentType: 'image/avif',
    animates: false,
    alpha: true,
    encode: (image, { quality }) =>
      image.avif({ quality: avifQuality(quality), effort: 0, chromaSubsampling: '4:2:0' }),
  },
  // Effort 2: 0.88 x the bytes in 3 x the time. Effort 3 and sharp's own 4: 0.82 x in 5.7 x, effort
  // 0: 1.01 x in 2 x. From 20 to 90 quality is JPEG's within 5 points, so it is not mapped. `mixed`
  // lets each frame choose lossless: of two animations one had half the bytes, the other 10 % less,
  // for up to a quarter more time.
  webp: {
    contentType: 'image/webp',
    animates: true,
    alpha: true,
    encode: (image, { quality, animated }) => image.webp({ quality, effort: 2, mixed: animated }),
  },
  // mozjpeg: a sixth fewer bytes, but at a lower SSIM and in 5 x the time. Progressive: 4 % fewer
  // bytes in 1.4 x the time, and the whole picture in memory.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    alpha: false,
    encode: (image, { quality }) =>
      image.jpeg({ quality, chromaSubsampling: '4:2:0', progressive: false, mozjpeg: false }),
  },
  // Lossless, so quality has no part in it. Row filters at level 4, against sharp's own level 6
  // without them: four of five pictures had 0.65 to 0.88 x the bytes in 1.2 to 2 x the time; the
  // fifth, a drawing with transparency, had 1.2 x in 2.3 x.
  png: {
    contentType: 'image/png',
    animates: false,
    alpha: true,
    encode: (image) => image.png({ compressionLevel: 4, adaptiveFiltering: true }),
  },
  // Effort 3 writes a still photo in a quarter of the time of 7, sharp's own, with 13 % more bytes.
  // Of two animations 7 made one 30 % smaller in less time, the other no smaller in 1.4 x.
  gif: {
    contentType: 'image/gif',
    animates: true,
    alpha: true,
    encode: (image, { animated }) => image.gif({ effort: animated ? 7 : 3 }),
  },
} as const satisfies Record<OutputFormat, Encoding>;

/**
 * JPEG's quality to the AVIF quality (effort 0, 4:2:0) that has the same SSIM on average over the
 * five pictures; between the points it is a straight line. A first approximation: luma only, and
 * the ends (1 and 100) were not measured.
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
