import type { Sharp } from 'sharp';
import { encoderQuality, type Mode } from './quality.ts';

/** Resolution of chroma: half in both directions, or full. */
export const chromas = ['420', '444'] as const;
export type Chroma = (typeof chromas)[number];

export interface EncodeOptions {
  /** 1..100, as requested, on JPEG's scale. */
  readonly quality: number;
  /** Keeps visible pixels exactly, if the format supports it, and ignores the quality. */
  readonly lossless: boolean;
  /** Whether invisible losses can save bytes of a lossless WebP. */
  readonly drawing?: boolean;
  /** True when chroma needs more than half of the resolution at any quality. */
  readonly sharpChroma: boolean;
  /** Whether most of the image lacks texture, like a drawing or a screenshot. */
  readonly flat: boolean;
  /** True for all frames of an animation. */
  readonly animated: boolean;
  /** The output's width times height, per frame. */
  readonly pixels: number;
  /** Null to choose by quality and pixels. */
  readonly chroma?: Chroma | null;
  readonly progressive?: boolean;
}

/** From this quality on chroma keeps the resolution of luma, or the format's nearest resolution. */
export const fullChromaFrom = 90;

type SharpMode = Exclude<Mode, 'jxl'>;

/** sharp's lossy encoders with their own quality scales. */
export const ownScale: Readonly<
  Record<SharpMode, (image: Sharp, quality: number, pixels: number) => Sharp>
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
  avifFlat: (image, quality) =>
    image.avif({ quality, effort: 2, chromaSubsampling: '4:4:4', tune: 'iq' }),
  avifGraphic: (image, quality) =>
    image.avif({ quality, effort: 2, chromaSubsampling: '4:4:4', tune: 'ssim' }),
};

/** mozjpeg's table number 2 is tuned for MS-SSIM. */
const quantisationTable = 2;

/** Up to this size WebP needs effort 4 to be smaller than JPEG, which takes up to 8 ms more. */
const maxThumbnailPixels = 150_000;

function avifMode({ flat, sharpChroma }: EncodeOptions): SharpMode {
  if (!flat) return 'avif';
  return sharpChroma ? 'avifGraphic' : 'avifFlat';
}

const needsChroma = ({ quality, sharpChroma, chroma = null }: EncodeOptions): boolean =>
  chroma === null ? sharpChroma || quality >= fullChromaFrom : chroma === '444';

const lossy = (image: Sharp, mode: SharpMode, { quality, pixels }: EncodeOptions): Sharp =>
  ownScale[mode](image, encoderQuality(mode, quality, pixels), pixels);

/** ms for encoding a million pixels, and bytes for one. */
interface PixelCost {
  readonly ms: number;
  readonly bytes: number;
}

/** An output format: the table row that defines everything about it. An absent flag is false. */
export interface Encoding {
  readonly contentType: `image/${string}`;
  /** File name extensions; names without an extension get the first. */
  readonly extensions: readonly [string, ...string[]];
  /** Whether the format can contain several frames. */
  readonly animates?: true;
  /** True when every client that names the format shows all frames. */
  readonly showsAnimations?: true;
  readonly alpha?: true;
  /** True when libvips writes a profile in this format. */
  readonly profile?: true;
  /** Whether it states pixels per inch. */
  readonly density?: true;
  /** The cost of an output in several scans, in addition; absent if not possible. */
  readonly progressive?: PixelCost;
  /** True when only clients that name the format in Accept show it. */
  readonly mustBeNamed?: true;
  /** Whether the format is written from an SVG's text, without pixels: see svg/. */
  readonly vector?: true;
  /** Maximum pixels of all frames; see {@link maxOutputPixels}. */
  readonly maxPixels?: number;
  readonly cost: EncodingCost;
  /** Absent if the format's pixels do not depend on a quality. */
  readonly lossy?: LossyEncoding;
  /** Absent if the format offers no choice between lossy and lossless. */
  readonly lossless?: LosslessEncoding;
  /** Whether the encoder's bytes depend on the number of threads. */
  readonly usesThreads?: true;
  /** Absent for a format that sharp does not write. */
  readonly encode?: (image: Sharp, options: EncodeOptions) => Sharp;
  /** Sets an animation's delays and loops; absent if sharp writes the format's timing. */
  readonly time?: (image: Sharp, timing: SharpTiming) => Sharp;
}

/**
 * The maximum over a photograph and noise at 8 megapixels, at all qualities, with these settings.
 * Relative time: JPEG 1, PNG 4, WebP 4, AVIF 20, lossless WebP 20, GIF 23, AVIF at quality 100 and
 * lossless 40 to 60. Relative memory: JPEG 1, PNG 0.5, WebP 1, GIF 2, AVIF 5, lossless WebP 6,
 * lossless AVIF 8 and JPEG XL 12, up to 6 megapixels.
 */
interface EncodingCost extends PixelCost {
  /** ms per frame, regardless of its size. */
  readonly frameMs?: number;
  /**
   * ms per million pixels in a native call that libvips' timeout does not interrupt; see cost.ts.
   */
  readonly uninterruptibleMs?: number;
}

export interface LossyEncoding {
  /** Cost at qualities that keep full chroma. With `auto`, unknown before decoding. */
  readonly fullChroma: PixelCost;
  /**
   * Quality added for flat images with saturated edges, which look worse than photographs at the
   * same `q`: small red text on blue scores an SSIMULACRA2 of 69 as JPEG at 80, photographs 78, and
   * the text at 90 scores 79. AVIF uses a separate encoder setting and curve for them, and scores
   * 81 to 86.
   */
  readonly graphicBonus: number;
  readonly drawings: DrawingChoice;
  /**
   * Logarithms of an output's bytes at the qualities in within-bytes.ts, relative to 80: means over
   * the 24 images of Kodak's Photo CD and 18 others, 300 and 800 px wide (JPEG XL: ten and eight of
   * these). Single images differ mostly by a factor, which two outputs reveal.
   */
  readonly typicalBytes: readonly number[];
}

/** Limits for choosing a visibly lossless version of a drawing, from {@link usualQuality} on. */
interface DrawingChoice {
  /** Maximum `PixelTraits.losslessBytes` for encoding the lossless version. */
  readonly estimate: number;
  /** Maximum bytes, divided by the lossy version's. With Infinity no lossy version is encoded. */
  readonly worth: number;
}

/** Encodes both versions if the estimate allows it, and delivers the smaller. */
export const smallerVersion: DrawingChoice = { estimate: 2, worth: 1 };

interface LosslessEncoding {
  readonly cost: PixelCost;
  readonly maxPixels: number;
  /** Whether drawings are encoded in this format. */
  readonly suitsDrawings: boolean;
}

type SharpTiming = { readonly delay: number[]; readonly loop: number };

/**
 * The output formats, starting with the formats that suit drawings, best first. The encoder
 * settings balance bytes and CPU time, because a client waits for the encoder:
 * bench/results/encoders.md compares them, and bench/encoders at commit 70454193 measured them. If a
 * request names no format, a source in a format with the same name keeps it.
 */
export const encodings = {
  // Effort 1 of 0 to 9: for photographs, effort 2 takes much more time and saves few bytes.
  avif: {
    contentType: 'image/avif',
    extensions: ['avif'],
    alpha: true,
    profile: true,
    mustBeNamed: true,
    maxPixels: 12_000_000,
    cost: { ms: 700, bytes: 36, uninterruptibleMs: 1900 },
    lossy: {
      fullChroma: { ms: 1_300, bytes: 39 },
      graphicBonus: 0,
      drawings: smallerVersion,
      typicalBytes: [
        -2.01, -1.95, -1.89, -1.68, -1.38, -1.11, -0.83, -0.72, -0.5, -0.39, -0.2, 0.0, 0.18, 0.25,
        0.28, 0.56, 1.04, 2.01,
      ],
    },
    lossless: { cost: { ms: 2_000, bytes: 53 }, maxPixels: 4_000_000, suitsDrawings: false },
    usesThreads: true,
    encode: (image, options) =>
      options.lossless
        ? image.avif({ lossless: true, effort: 1 })
        : lossy(image, avifMode(options), options).avif({
            chromaSubsampling: options.chroma === '420' ? '4:2:0' : '4:4:4',
          }),
  },
  // In lossless mode `quality` is a second effort setting; 50 suffices. With `nearLossless` it also
  // sets the losses: levels differ by up to 8 at 20, 4 at 40 and 2 at 60, while images with up to
  // 256 colours stay exact.
  webp: {
    contentType: 'image/webp',
    extensions: ['webp'],
    animates: true,
    showsAnimations: true,
    alpha: true,
    profile: true,
    mustBeNamed: true,
    cost: { ms: 165, bytes: 8 },
    lossy: {
      fullChroma: { ms: 400, bytes: 16 },
      graphicBonus: 10,
      // The estimate takes no time compared with the encoder. Lossy WebP always halves the chroma
      // resolution.
      drawings: { estimate: 1.1, worth: Number.POSITIVE_INFINITY },
      typicalBytes: [
        -1.89, -1.88, -1.78, -1.71, -1.44, -1.28, -0.95, -0.73, -0.56, -0.46, -0.27, 0.0, 0.17,
        0.33, 0.34, 0.6, 0.89, 1.36,
      ],
    },
    lossless: { cost: { ms: 600, bytes: 41 }, maxPixels: 12_000_000, suitsDrawings: true },
    encode: (image, options) =>
      options.lossless
        ? image.webp({ lossless: true, effort: 1, ...webpLosses(options) })
        : lossy(image, needsChroma(options) ? 'webpSharp' : 'webp', options).webp({
            mixed: options.animated,
          }),
    time: (image, timing) => image.webp(timing),
  },
  // Uses only mozjpeg's quantisation table, which takes no time, and progressive scans on request.
  jpeg: {
    contentType: 'image/jpeg',
    extensions: ['jpg', 'jpeg', 'jpe'],
    profile: true,
    cost: { ms: 35, bytes: 7 },
    lossy: {
      fullChroma: { ms: 100, bytes: 14 },
      graphicBonus: 10,
      drawings: smallerVersion,
      typicalBytes: [
        -2.43, -2.39, -2.21, -1.75, -1.45, -1.23, -0.93, -0.73, -0.57, -0.43, -0.25, 0.0, 0.15,
        0.31, 0.38, 0.61, 1.06, 1.77,
      ],
    },
    density: true,
    progressive: { ms: 20, bytes: 6 },
    encode: (image, options) =>
      lossy(image, needsChroma(options) ? 'jpegFull' : 'jpeg', options).jpeg({
        progressive: options.progressive ?? false,
      }),
  },
  // Lossless, so quality is ignored. sharp's palettes change colours: see indexed-png.ts.
  png: {
    contentType: 'image/png',
    extensions: ['png'],
    alpha: true,
    profile: true,
    density: true,
    cost: { ms: 145, bytes: 4 },
    encode: (image) => image.png({ compressionLevel: 4, adaptiveFiltering: true }),
  },
  // Effort 3 and sharp's default 7 take longer for animations.
  gif: {
    contentType: 'image/gif',
    extensions: ['gif'],
    animates: true,
    showsAnimations: true,
    alpha: true,
    // Quantising the colours of a frame takes 3 to 7 ms.
    cost: { ms: 800, bytes: 15, frameMs: 7, uninterruptibleMs: 500 },
    encode: (image) => image.gif({ effort: 4 }),
    time: (image, timing) => image.gif(timing),
  },
  // Written by jxl/. Safari shows only the first frame of an animation.
  jxl: {
    contentType: 'image/jxl',
    extensions: ['jxl'],
    animates: true,
    alpha: true,
    profile: true,
    mustBeNamed: true,
    maxPixels: 12_000_000,
    cost: { ms: 150, bytes: 84 },
    lossy: {
      fullChroma: { ms: 500, bytes: 84 },
      graphicBonus: 10,
      // Small luma errors become large errors in blue, so avoiding losses is worth some bytes.
      drawings: { estimate: 2, worth: 1.3 },
      typicalBytes: [
        -1.64, -1.57, -1.51, -1.34, -1.18, -1.04, -0.78, -0.67, -0.51, -0.37, -0.21, 0.0, 0.1, 0.25,
        0.27, 0.52, 1.0, 2.13,
      ],
    },
    lossless: { cost: { ms: 700, bytes: 44 }, maxPixels: 12_000_000, suitsDrawings: true },
  },
  svg: {
    contentType: 'image/svg+xml',
    extensions: ['svg'],
    alpha: true,
    mustBeNamed: true,
    vector: true,
    cost: { ms: 0, bytes: 0 },
  },
} as const satisfies Readonly<Record<string, Encoding>>;

function webpLosses({ drawing, quality }: EncodeOptions) {
  if (drawing !== true || quality === 100) return { quality: 50 };
  if (quality < usualQuality) return { nearLossless: true, quality: 20 };
  return { nearLossless: true, quality: quality < fullChromaFrom ? 40 : 60 };
}

/** From this quality on drawings show no losses. */
export const usualQuality = 75;

export type OutputFormat = keyof typeof encodings;
export type OutputType = (typeof encodings)[OutputFormat]['contentType'];

export const outputFormats = Object.keys(encodings) as readonly OutputFormat[];

export const getEncoding = (format: OutputFormat): Encoding => encodings[format];

/** Returns the formats with rows that satisfy a condition, in table order. */
export const outputFormatsWith = (
  condition: (encoding: Encoding) => boolean,
): readonly OutputFormat[] => outputFormats.filter((format) => condition(getEncoding(format)));

/** The formats made from pixels. */
export const rasterFormats = outputFormatsWith(({ vector }) => vector !== true);

/**
 * Returns the maximum pixels over all frames for slow encoders. At the maximum, the slowest image
 * and quality measured take about half the default timeout, on a core that encodes JPEG at 30
 * megapixels per second.
 */
export function maxOutputPixels(format: OutputFormat, isLossless: boolean): number {
  const { maxPixels, lossless } = getEncoding(format);
  const most = isLossless && lossless !== undefined ? lossless.maxPixels : maxPixels;
  return most ?? Number.POSITIVE_INFINITY;
}
