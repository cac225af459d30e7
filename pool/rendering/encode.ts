import type { Sharp } from 'sharp';
import type { OutputFormat } from '../variant.ts';
import { type Mode, ownQuality } from './encode/quality.ts';

export interface EncodeOptions {
  /** 1..100, as requested, on JPEG's scale. */
  readonly quality: number;
  /** Keeps visible pixels exactly, where the format supports it; quality is then ignored. */
  readonly lossless: boolean;
  /** True when chroma needs more than half of the resolution at any quality. */
  readonly sharpChroma: boolean;
  /** True for a flat image with saturated edges, such as coloured text on a colour. */
  readonly graphic: boolean;
  /** True for all frames of an animation. */
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

/** From this quality on chroma has the resolution of luma, or the format's closest one. */
export const fullChromaFrom = 90;

/** The lossy encoders with their own quality scales. */
export const ownScale: Readonly<
  Record<Mode, (image: Sharp, quality: number, pixels: number) => Sharp>
> = {
  jpeg: (image, quality) =>
    image.jpeg({ quality, quantisationTable, chromaSubsampling: '4:2:0', mozjpeg: false }),
  jpegFull: (image, quality) =>
    image.jpeg({ quality, quantisationTable, chromaSubsampling: '4:4:4', mozjpeg: false }),
  webp: (image, quality, pixels) =>
    image.webp({ quality, effort: pixels <= maxThumbnailPixels ? 4 : 2 }),
  webpSharp: (image, quality) => image.webp({ quality, effort: 2, smartSubsample: true }),
  avif: (image, quality) =>
    image.avif({ quality, effort: 1, chromaSubsampling: '4:4:4', tune: 'iq' }),
  avifGraphic: (image, quality) =>
    image.avif({ quality, effort: 1, chromaSubsampling: '4:4:4', tune: 'ssim' }),
};

/** Of mozjpeg's tables, number 2 is tuned for MS-SSIM. */
const quantisationTable = 2;

/** Up to this size WebP needs effort 4 to be smaller than JPEG, which takes up to 8 ms more. */
const maxThumbnailPixels = 150_000;

function lossy(image: Sharp, modes: readonly [Mode, Mode], options: EncodeOptions): Sharp {
  const { quality, pixels, sharpChroma } = options;
  const mode = modes[sharpChroma || quality >= fullChromaFrom ? 1 : 0];
  return ownScale[mode](image, ownQuality(mode, quality, pixels), pixels);
}

/**
 * The encoder settings of each format. They balance CPU time, because a client waits for the encoder,
 * and bytes: `npm run bench:encoders` prints both beside sharp's defaults and mozjpeg. The figures are
 * geometric means over photographs 200 to 800 px wide at equal SSIMULACRA2, at the qualities 40, 60, 80
 * and 90 of JPEG (bench/encoders/README.md).
 */
export const encodings = {
  // Compared with sharp's defaults (effort 4): about 1.08 x the bytes in 0.08 x the time. Compared
  // with this: effort 2 has 0.97 x the bytes in 1.5 x the time, effort 3 0.94 x in 3 x, effort 0 1.12 x
  // in 0.34 x; 10 bits 0.98 x in 1.4 x; 4:2:0 1.04 x in 0.94 x, and it ruins saturated edges; tuned for
  // `ssim` 1.15 x in 0.95 x. Of 14 logos and small red text on blue `ssim` has 0.86 x the bytes of `iq`
  // with 10 more at the same mean score, in 0.9 x the time, and the text at 400 px 81 instead of 68.
  // Lossless, effort 1 compared with 0: a quarter fewer bytes for a graphic, 2 to 5 % fewer for a
  // photo, in 2 to 3 x the time; 2 to 4 are another 1.5 to 10 x slower. WebP is smaller and faster.
  avif: {
    contentType: 'image/avif',
    animates: false,
    alpha: true,
    profile: true,
    encode: (image, options) =>
      options.lossless
        ? image.avif({ lossless: true, effort: 1 })
        : lossy(
            image,
            options.graphic ? ['avifGraphic', 'avifGraphic'] : ['avif', 'avif'],
            options,
          ),
  },
  // Effort 4, sharp's default, has 0.955 x the bytes in 1.9 x the time, 5 0.94 x in 2.2 x, 1 1.1 x in
  // 0.84 x; 3 is not faster than 4. `smartSubsample` takes 2.6 x the time. The presets are larger.
  // `mixed` chooses lossy or lossless for each frame: of two animations one had half the bytes, the
  // other 10 % fewer, in up to a quarter more time. Lossless, effort 1 compared with 0: a third fewer
  // bytes for a graphic, 5 to 8 % fewer for a photo, in 3 to 8 x the time. In lossless mode `quality`
  // is a second effort setting; 50 is sufficient.
  webp: {
    contentType: 'image/webp',
    animates: true,
    alpha: true,
    profile: true,
    encode: (image, options) =>
      options.lossless
        ? image.webp({ lossless: true, effort: 1, quality: 50 })
        : lossy(image, ['webp', 'webpSharp'], options).webp({ mixed: options.animated }),
  },
  // Of mozjpeg's parts the quantisation table takes no time: compared with JPEG's own table (Annex K)
  // number 2 has 0.92 x the bytes, and 1.04 x at equal SSIM of luma; 5, 3 and 4 have 0.90, 0.94 and
  // 0.93 x, and up to 1.10 x by SSIM. Trellis quantisation saves 3 % more in 4 x the time, all of
  // mozjpeg 5 % in 6 x. Without optimised Huffman tables: 1.05 x the bytes in 0.6 x the time.
  // Progressive versions of four photos had 1.24 x the bytes at 50 px wide, 1.03 x at 200, 0.99 x at 800
  // and 0.98 x at 1600, in 1.4 to 2 x the time, and need the memory of all coefficients.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    alpha: false,
    profile: true,
    encode: (image, options) => lossy(image, ['jpeg', 'jpegFull'], options),
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
