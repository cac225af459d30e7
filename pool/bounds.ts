import type { OutputFormat } from './variant.ts';

/** Limits of an output: pixels per side, and pixels per frame. */
export const maxSide = 10_000;
export const maxFramePixels = 40_000_000;

/**
 * Limits of outputs whose encoders are slow, in pixels of all frames together: so large that the
 * encoder takes about half of the default timeout on a core that encodes JPEG at 30 megapixels a
 * second, at the worst picture and quality measured.
 */
export function maxOutputPixels(format: OutputFormat, lossless: boolean): number {
  if (format === 'avif') return lossless ? 4_000_000 : 12_000_000;
  return format === 'webp' && lossless ? 12_000_000 : Number.POSITIVE_INFINITY;
}

/**
 * Rows of all frames together: libvips stacks frames in one image, and this is its maximum height.
 */
export const maxRows = 10_000_000;
