import type { OutputFormat } from './variant.ts';

/** Maximum pixels per side and per frame of an output. */
export const maxSide = 10_000;
export const maxFramePixels = 40_000_000;

/**
 * Maximum pixels of all frames for slow encoders: with it the encoder takes about half of the default
 * timeout on a core that encodes JPEG at 30 megapixels a second, with the slowest picture and quality
 * measured.
 */
export function maxOutputPixels(format: OutputFormat, lossless: boolean): number {
  if (format === 'avif') return lossless ? 4_000_000 : 12_000_000;
  if (format === 'jxl') return 12_000_000;
  return format === 'webp' && lossless ? 12_000_000 : Number.POSITIVE_INFINITY;
}

/** Maximum rows of all frames: libvips stacks frames in one image, and this is its maximum height. */
export const maxRows = 10_000_000;
