import sharp, { type Sharp } from 'sharp';
import { ssim as compare } from 'ssim.js';

/** The pixels of a picture. */
export interface Reference {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/**
 * `full` compares pixel by pixel. `distant` first downscales the picture until its shorter side has
 * about 256 pixels, as the authors' own program does, to model the distance of a viewer: that removes
 * nearly all artefacts of a large picture, so that SSIM is above 0.99 and shows little difference.
 */
export type Scale = 'full' | 'distant';

export async function toReference(image: Sharp): Promise<Reference> {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

/**
 * Mean structural similarity of an encoded picture and the one it was made from: of their luma, in
 * Gaussian windows of 11 x 11 (Wang, Bovik, Sheikh, Simoncelli, 2004). 1 is no difference.
 */
export async function ssim(
  reference: Reference,
  encoded: Uint8Array,
  scale: Scale = 'full',
): Promise<number> {
  const decoded = await toReference(sharp(encoded));
  return compare(reference, decoded, { downsample: scale === 'full' ? false : 'original' }).mssim;
}
