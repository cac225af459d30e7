import type { Sharp } from 'sharp';
import type { ContentType } from '../../image.ts';
import type { OutputFormat } from '../../variant.ts';
import { encoderQuality, type Mode } from './quality.ts';

export interface EncodeOptions {
  /** 1..100, as requested, on JPEG's scale. */
  readonly quality: number;
  /** Keeps visible pixels exactly, where the format supports it; quality is then ignored. */
  readonly lossless: boolean;
  /** True when chroma needs more than half of the resolution at any quality. */
  readonly sharpChroma: boolean;
  /** True when most of the image has no texture, such as a drawing or a screenshot. */
  readonly flat: boolean;
  /** True for all frames of an animation. */
  readonly animated: boolean;
  /** Width times height of the output, of one frame. */
  readonly pixels: number;
}

interface Encoding {
  readonly contentType: ContentType;
  /** True when more than one frame can be written in this format. */
  readonly animates: boolean;
  /** True when every client that names the format shows all frames. */
  readonly showsAnimations: boolean;
  /** True when the format has transparency. */
  readonly alpha: boolean;
  /** True when libvips writes a profile in this format. */
  readonly profile: boolean;
  /** Null for a format that sharp does not write. */
  readonly encode: ((image: Sharp, options: EncodeOptions) => Sharp) | null;
}

/** From this quality on chroma has the resolution of luma, or the format's closest one. */
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

/** Of mozjpeg's tables, number 2 is tuned for MS-SSIM. */
const quantisationTable = 2;

/** Up to this size WebP needs effort 4 to be smaller than JPEG, which takes up to 8 ms more. */
const maxThumbnailPixels = 150_000;

function avifMode({ flat, sharpChroma }: EncodeOptions): SharpMode {
  if (!flat) return 'avif';
  return sharpChroma ? 'avifGraphic' : 'avifFlat';
}

const needsChroma = ({ quality, sharpChroma }: EncodeOptions): boolean =>
  sharpChroma || quality >= fullChromaFrom;

const lossy = (image: Sharp, mode: SharpMode, { quality, pixels }: EncodeOptions): Sharp =>
  ownScale[mode](image, encoderQuality(mode, quality, pixels), pixels);

/**
 * The encoder settings of each format, which balance CPU time, because a client waits for the encoder, and
 * bytes. `npm run bench:encoders` prints both; bench/encoders/README.md has the measurements of each setting.
 */
export const encodings = {
  // At effort 1 of 0 to 9: of photographs, effort 2 takes much more time for few bytes.
  avif: {
    contentType: 'image/avif',
    animates: false,
    showsAnimations: false,
    alpha: true,
    profile: true,
    encode: (image, options) =>
      options.lossless
        ? image.avif({ lossless: true, effort: 1 })
        : lossy(image, avifMode(options), options),
  },
  // In lossless mode `quality` is a second effort setting; 50 is sufficient.
  webp: {
    contentType: 'image/webp',
    animates: true,
    showsAnimations: true,
    alpha: true,
    profile: true,
    encode: (image, options) =>
      options.lossless
        ? image.webp({ lossless: true, effort: 1, quality: 50 })
        : lossy(image, needsChroma(options) ? 'webpSharp' : 'webp', options).webp({
            mixed: options.animated,
          }),
  },
  // Of mozjpeg's parts only the quantisation table, which takes no time, and no progressive scans.
  jpeg: {
    contentType: 'image/jpeg',
    animates: false,
    showsAnimations: false,
    alpha: false,
    profile: true,
    encode: (image, options) => lossy(image, needsChroma(options) ? 'jpegFull' : 'jpeg', options),
  },
  // Lossless, so quality is ignored. sharp's palettes change colours: see indexed-png.ts.
  png: {
    contentType: 'image/png',
    animates: false,
    showsAnimations: false,
    alpha: true,
    profile: true,
    encode: (image) => image.png({ compressionLevel: 4, adaptiveFiltering: true }),
  },
  // Effort 3 and sharp's default 7 take longer for animations.
  gif: {
    contentType: 'image/gif',
    animates: true,
    showsAnimations: true,
    alpha: true,
    profile: false,
    encode: (image) => image.gif({ effort: 4 }),
  },
  // Written by jxl/. Safari shows only the first frame of an animation.
  jxl: {
    contentType: 'image/jxl',
    animates: true,
    showsAnimations: false,
    alpha: true,
    profile: true,
    encode: null,
  },
} as const satisfies Record<OutputFormat, Encoding>;
