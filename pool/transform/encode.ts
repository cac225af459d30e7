import type { Sharp } from 'sharp';
import { avifQuality, webpQuality } from './encode/quality.ts';
import type { OutputFormat } from './variant.ts';

export interface EncodeOptions {
  /** 1..100, as requested, on JPEG's scale. */
  readonly quality: number;
  /** Keeps visible pixels exactly, in formats that can; quality is then ignored. */
  readonly lossless: boolean;
  /** True when the image has all frames of an animation. */
  readonly animated: boolean;
  /** Width times height of the output, of one frame. */
  readonly pixels: number;
}

interface Encoding {
  readonly contentType: string;
  /** True when sharp can write more than one frame in this format. */
  readonly animates: boolean;
  /** True when the format has transparency. */
  readonly alpha: boolean;
  /** True when libvips writes a profile in this format. */
  readonly profile: boolean;
  encode(image: Sharp, options: EncodeOptions): Sharp;
}

/**
 * Between these sizes JPEGs are progressive. At quality 80 progressive versions of four photos had
 * 1.24 x the bytes at 50 px wide, 1.03 x at 200, 0.99 x at 800 and 0.98 x at 1600, in 1.4 to 2 x
 * the time (2 to 11 ms): from the minimum on, a preview while loading costs hardly any bytes. Above
 * the maximum, the coefficients of the whole image would take too much memory, at 3 bytes per
 * pixel.
 */
const progressivePixels = { least: 250_000, most: 16_000_000 };

/** The lossy encoders whose quality is converted from JPEG's scale; here on their own scale. */
export const ownScale = {
  avif: (image: Sharp, quality: number) =>
    image.avif({ quality, effort: 2, chromaSubsampling: '4:2:0', tune: 'ssim' }),
  webp: (image: Sharp, quality: number) => image.webp({ quality, effort: 2 }),
} as const;

/**
 * The encoder settings of each format. They balance time, because a client waits for the encoder,
 * and bytes: `npm run bench:encoders` prints both, compared with sharp's defaults. The figures are
 * for photographs 400, 800 and 1600 px wide at the SSIM of JPEG at quality 80, and are approximate.
 */
export const encodings = {
  // Compared with sharp's defaults (effort 4, 4:4:4, tuned for `iq`): about 1.05 x the bytes in 0.1
  // x the time. Effort 1 has 1.15 x the bytes in 0.05 x the time; effort 3 saves 5 % in 0.13 x, and
  // 10 bits save 5 % in 0.12 x. Without `ssim` effort 2 has 1.13 x the bytes. Chroma subsampling is
  // 4:2:0 as in WebP and in JPEG below; 4:4:4 has a sixth more bytes. Lossless, effort 1 compared
  // with 0: a quarter fewer bytes for a graphic, 2 to 5 % fewer for a photo, in 2 to 3 x the time;
  // 2 to 4 are another 1.5 to 10 x slower. WebP is smaller and faster.
  avif: {
    contentType: 'image/avif',
    animates: false,
    alpha: true,
    profile: true,
    encode: (image, { quality, lossless }) =>
      lossless ? image.avif({ lossless, effort: 1 }) : ownScale.avif(image, avifQuality(quality)),
  },
  // Effort 2 compared with sharp's default 4: 1.1 x the bytes in half the time. 3 is not faster
  // than 4; 1 has 1.3 x the bytes. `mixed` chooses lossy or lossless for each frame: of two
  // animations one had half the bytes, the other 10 % fewer, in up to a quarter more time.
  // Lossless, effort 1 compared with 0: a third fewer bytes for a graphic, 5 to 8 % fewer for a
  // photo, in 3 to 8 x the time. In lossless mode `quality` is a second effort setting; 50 is
  // sufficient.
  webp: {
    contentType: 'image/webp',
    animates: true,
    alpha: true,
    profile: true,
    encode: (image, { quality, lossless, animated }) =>
      lossless
        ? image.webp({ lossless, effort: 1, quality: 50 })
        : ownScale.webp(image, webpQuality(quality)).webp({ mixed: animated }),
  },
  // mozjpeg does not save bytes at equal SSIM, and takes 4 to 5 x the time.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    alpha: false,
    profile: true,
    encode: (image, { quality, pixels }) =>
      image.jpeg({
        quality,
        chromaSubsampling: '4:2:0',
        progressive: pixels >= progressivePixels.least && pixels <= progressivePixels.most,
        mozjpeg: false,
      }),
  },
  // Lossless, so quality is ignored. Row filters at level 4, compared with sharp's default level 6
  // without filters: four of five images had 0.65 to 0.88 x the bytes in 1.2 to 2 x the time; the
  // fifth, a graphic with transparency, had 1.2 x the bytes in 2.3 x the time. sharp's palettes
  // change colours even in images with few colours: see encode/indexed-png.ts.
  png: {
    contentType: 'image/png',
    animates: false,
    alpha: true,
    profile: true,
    encode: (image) => image.png({ compressionLevel: 4, adaptiveFiltering: true }),
  },
  // Effort 4 compared with 3, as geometric means over ten animations: 0.65 x the time and 0.91 x the
  // bytes; over four still pictures 0.89 x and 0.97 x. sharp's default 7 takes 2.4 x the time of 4
  // for 1.5 % fewer bytes of animations, and 3.6 x for 8 % fewer of still pictures.
  gif: {
    contentType: 'image/gif',
    animates: true,
    alpha: true,
    profile: false,
    encode: (image) => image.gif({ effort: 4 }),
  },
} as const satisfies Record<OutputFormat, Encoding>;
