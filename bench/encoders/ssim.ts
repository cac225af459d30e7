import sharp, { type Sharp } from 'sharp';
import { ssim as compare } from 'ssim.js';

/** An image's pixels. */
export interface Reference {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export async function toReference(image: Sharp): Promise<Reference> {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

/**
 * Returns the mean structural similarity between an encoded image's luma and its original's, in 11
 * x 11 Gaussian windows (Wang, Bovik, Sheikh, Simoncelli, 2004). 1 means identical. Ignores chroma.
 */
export async function ssim(reference: Reference, encoded: Uint8Array): Promise<number> {
  const decoded = await toReference(sharp(encoded));
  return compare(reference, decoded, { downsample: false }).mssim;
}
