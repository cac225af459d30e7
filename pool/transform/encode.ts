import type { Sharp } from 'sharp';
import { avifQuality, webpQuality } from './encode/quality.ts';
import type { OutputFormat } from './variant.ts';

export interface EncodeOptions {
  /** 1..100, as asked for: the scale is JPEG's. */
  readonly quality: number;
  /** What can be seen is kept bit by bit, where the format can do that; quality has no part then. */
  readonly lossless: boolean;
  /** True when the picture holds all frames of an animation. */
  readonly animated: boolean;
  /** Width times height of the output, of one frame. */
  readonly pixels: number;
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
 * Between these sizes a JPEG is progressive. At quality 80 four photos had 1.24 x the bytes that way
 * at 50 px wide, 1.03 x at 200, 0.99 x at 800 and 0.98 x at 1600: so it costs next to nothing where
 * there is something to see early, for 1.4 to 2 x the time (2 to 11 ms). Above, the coefficients of
 * the whole picture, 3 bytes a pixel, would have to be held.
 */
const progressivePixels = { least: 250_000, most: 16_000_000 };

/** The lossy encoders whose quality is mapped to JPEG's, at their own scale. */
export const ownScale = {
  avif: (image: Sharp, quality: number) =>
    image.avif({ quality, effort: 2, chromaSubsampling: '4:2:0', tune: 'ssim' }),
  webp: (image: Sharp, quality: number) => image.webp({ quality, effort: 2 }),
} as const;

/**
 * How each format is written. A client waits while this runs, so time was weighed against bytes:
 * `npm run bench:encoders` prints both beside sharp's own defaults. The figures are for photographs
 * 400, 800 and 1600 px wide at the SSIM of JPEG at quality 80; trust the ratios, not the last digit.
 */
export const encodings = {
  // Against sharp's own effort 4 in 4:4:4 tuned for `iq`: about 1.05 x the bytes in 0.1 x the time.
  // Effort 1 needs 1.15 x the bytes in 0.05 x, effort 3 saves 5 % in 0.13 x, 10 bits the same in
  // 0.12 x. Without `ssim` effort 2 has 1.13 x the bytes. 4:2:0 is what WebP always and JPEG here
  // has; in 4:4:4 it is a sixth more bytes.
  // Lossless, effort 1 against 0: a quarter fewer bytes of a graphic, 2 to 5 % of a photo, in 2 to 3 x
  // the time; 2 to 4 are 1.5 to 10 x slower again. WebP's are smaller and sooner done.
  avif: {
    contentType: 'image/avif',
    animates: false,
    alpha: true,
    encode: (image, { quality, lossless }) =>
      lossless ? image.avif({ lossless, effort: 1 }) : ownScale.avif(image, avifQuality(quality)),
  },
  // Effort 2 against 4, sharp's own: 1.1 x the bytes in half of the time. 3 is no faster than 4; 1
  // needs 1.3 x the bytes. `mixed` lets each frame choose lossless: of two animations one had half
  // the bytes, the other 10 % less, for up to a quarter more time.
  // Lossless, effort 1 against 0: a third fewer bytes of a graphic, 5 to 8 % of a photo, in 3 to 8 x
  // the time; quality is then one more effort, of which 50 is enough.
  webp: {
    contentType: 'image/webp',
    animates: true,
    alpha: true,
    encode: (image, { quality, lossless, animated }) =>
      lossless
        ? image.webp({ lossless, effort: 1, quality: 50 })
        : ownScale.webp(image, webpQuality(quality)).webp({ mixed: animated }),
  },
  // mozjpeg: no fewer bytes at equal SSIM, in 4 to 5 x the time.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    alpha: false,
    encode: (image, { quality, pixels }) =>
      image.jpeg({
        quality,
        chromaSubsampling: '4:2:0',
        progressive: pixels >= progressivePixels.least && pixels <= progressivePixels.most,
        mozjpeg: false,
      }),
  },
  // Lossless, so quality has no part in it. Row filters at level 4, against sharp's own level 6
  // without them: four of five pictures had 0.65 to 0.88 x the bytes in 1.2 to 2 x the time; the
  // fifth, a graphic with transparency, had 1.2 x in 2.3 x. sharp's palettes change colours even
  // where there are few: see encode/indexed-png.ts.
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
