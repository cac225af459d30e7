import type { Size } from '../../geometry.ts';

/**
 * Maximum distance, in pixels of the output, by which the far edges move. libvips drops the part
 * of a column that remains: a half of 2725 columns is a half of the first 2724.
 */
const maxShift = 0.6;

/**
 * A half at ratios from 2 to 3, and a quarter from 4 to 5. sharp decodes twice as many rows and columns there, against
 * rounding errors of old decoders, and chooses the same as this elsewhere. Takes 0.6 to 0.8 of the CPU time, and costs
 * 0.2 to 1.3 points of SSIMULACRA2 (20 photographs).
 *
 * @param size as stored
 */
export function decoderScale(scale: number, { width, height }: Size): number | null {
  const ratio = Math.floor(1 / scale);
  if (ratio !== 2 && ratio !== 4) return null;
  const lost = Math.max(width % ratio, height % ratio);
  return lost * scale <= maxShift ? 1 / ratio : null;
}
