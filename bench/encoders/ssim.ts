import sharp, { type Sharp } from 'sharp';
import { ssim as compare } from 'ssim.js';

/** The pixels of a picture. */
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
 * Mean structural similarity of the luma of an encoded picture and its original, in Gaussian windows of
 * 11 x 11 (Wang, Bovik, Sheikh, Simoncelli, 2004). 1 is no difference. Chroma is ignored.
 */
export async function ssim(reference: Reference, encoded: Uint8Array): Promise<number> {
  const decoded = await toReference(sharp(encoded));
  return compare(reference, decoded, { downsample: false }).mssim;
}
