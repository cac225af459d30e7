import sharp from 'sharp';
import type { FocalPoint } from '../../variant.ts';
import type { SmallPixels } from './pixels.ts';

/**
 * Returns the centre of the square that `cover` with `attention` keeps, as far as the image allows:
 * libvips' smartcrop looks for skin tones, saturation and edges in a 32 x 32 pixel image.
 */
export async function findFocus({ data, width, height }: SmallPixels): Promise<FocalPoint> {
  const shorter = Math.min(width, height);
  if (Math.max(width, height) === 1) return { x: 0.5, y: 0.5 };
  // sharp computes the point only if the crop cuts something off, and skips the resize only if one
  // side stays the same.
  const side = { width: shorter, height: width === height ? shorter - 1 : shorter };
  const { info } = await sharp(data, { raw: { width, height, channels: 4 } })
    .resize({ ...side, fit: 'cover', position: 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { x: fraction(info.attentionX, width), y: fraction(info.attentionY, height) };
}

const fraction = (at = 0, length: number): number =>
  Math.min(1, Math.round((1000 * at) / length) / 1000);
