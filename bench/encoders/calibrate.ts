import type { Sharp } from 'sharp';
import { encodings, ownScale } from '../../pool/transform/encode.ts';
import type { Source } from './sources.ts';
import { type Scale, ssim } from './ssim.ts';

type Encode = (image: Sharp, quality: number) => Sharp;

const asked = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
const own = [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 98];

/**
 * Finds, for a list of JPEG qualities, the qualities of AVIF and WebP with the same mean SSIM over all
 * sources, and prints them as the points of the curves in pool/transform/encode.ts.
 */
export async function calibrate(
  sources: readonly Source[],
  scale: Scale,
  print: (line: string) => void,
): Promise<void> {
  const jpeg: Encode = (image, quality) =>
    encodings.jpeg.encode(image, { quality, lossless: false, animated: false, pixels: 0 });
  const wanted = await meanSsim(sources, scale, jpeg, asked);
  for (const [format, encode] of Object.entries(ownScale)) {
    const found = await meanSsim(sources, scale, encode, own);
    const points = asked.map((quality, index) => {
      const target = wanted[index] ?? 1;
      return `[${quality}, ${crossing(found, target).toFixed(1)}]`;
    });
    print(`${format}: ${points.join(', ')}`);
  }
}

async function meanSsim(
  sources: readonly Source[],
  scale: Scale,
  encode: Encode,
  qualities: readonly number[],
): Promise<number[]> {
  const means: number[] = [];
  for (const quality of qualities) {
    let sum = 0;
    for (const { open, reference } of sources) {
      sum += await ssim(reference, await encode(open(), quality).toBuffer(), scale);
    }
    means.push(sum / sources.length);
  }
  return means;
}

/** The quality at which the measured curve reaches the target, by linear interpolation. */
function crossing(found: readonly number[], target: number): number {
  const above = found.findIndex((value) => value >= target);
  if (above === -1) return 100;
  const high = own[above] ?? 100;
  const low = own[above - 1] ?? high;
  const from = found[above - 1] ?? target;
  const to = found[above] ?? target;
  return to === from ? high : low + ((target - from) / (to - from)) * (high - low);
}
