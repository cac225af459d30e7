import type { Sharp } from 'sharp';
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

export function avifMode({ flat, sharpChroma }: EncodeOptions): SharpMode {
  if (!flat) return 'avif';
  return sharpChroma ? 'avifGraphic' : 'avifFlat';
}

export const needsChroma = ({ quality, sharpChroma }: EncodeOptions): boolean =>
  sharpChroma || quality >= fullChromaFrom;

export const lossy = (image: Sharp, mode: SharpMode, { quality, pixels }: EncodeOptions): Sharp =>
  ownScale[mode](image, encoderQuality(mode, quality, pixels), pixels);
