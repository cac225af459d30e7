import type { Sharp } from 'sharp';
import { encodings } from '../../pool/transform/encode.ts';
import type { Source } from './sources.ts';
import { type Scale, ssim } from './ssim.ts';

export interface Measured {
  readonly quality: number;
  readonly bytes: number;
  readonly ssim: number;
  /** Median of the repetitions. */
  readonly ms: number;
}

export interface Comparison {
  readonly ours: Measured;
  /** sharp's own defaults. */
  readonly sharps: Measured;
  /** sharp's own effort and sampling at the quality that has our SSIM, interpolated. */
  readonly equal: Measured;
}

export const formats = ['jpeg', 'webp', 'avif'] as const;
export type Format = (typeof formats)[number];

/** The quality of a new project. */
const ourQuality = 80;
/** sharp's default qualities, from its documentation. */
const sharpQuality = { jpeg: 80, webp: 80, avif: 50 } as const;

type Encode = (image: Sharp, quality: number) => Sharp;

const sharpEncode: Readonly<Record<Format, Encode>> = {
  jpeg: (image, quality) => image.jpeg({ quality }),
  webp: (image, quality) => image.webp({ quality }),
  avif: (image, quality) => image.avif({ quality }),
};

export async function compare(
  source: Source,
  format: Format,
  scale: Scale,
  repetitions: number,
): Promise<Comparison> {
  const ours: Encode = (image, quality) =>
    encodings[format].encode(image, {
      quality,
      lossless: false,
      animated: false,
      pixels: source.width * source.height,
    });
  const theirs = sharpEncode[format];
  const measure = async (encode: Encode, quality: number) => {
    const encoded = await encode(source.open(), quality).toBuffer();
    return { bytes: encoded.length, ssim: await ssim(source.reference, encoded, scale) };
  };
  const our = await measure(ours, ourQuality);
  const their = await measure(theirs, sharpQuality[format]);
  const equal = await atSsim(our.ssim, (quality) => measure(theirs, quality));

  const runs = [
    () => ours(source.open(), ourQuality),
    () => theirs(source.open(), sharpQuality[format]),
    () => theirs(source.open(), Math.round(equal.quality)),
  ];
  const [ms = 0, theirMs = 0, equalMs = 0] = await interleaved(runs, repetitions);
  return {
    ours: { quality: ourQuality, ...our, ms },
    sharps: { quality: sharpQuality[format], ...their, ms: theirMs },
    equal: { ...equal, ms: equalMs },
  };
}

/** Finds the quality of an SSIM by binary search, and interpolates between the two nearest qualities. */
async function atSsim(
  target: number,
  measure: (quality: number) => Promise<{ bytes: number; ssim: number }>,
): Promise<{ quality: number; bytes: number; ssim: number }> {
  let low = { quality: 20, ...(await measure(20)) };
  let high = { quality: 95, ...(await measure(95)) };
  if (target <= low.ssim) return low;
  if (target >= high.ssim) return high;
  while (high.quality - low.quality > 1) {
    const quality = (low.quality + high.quality) >> 1;
    const middle = { quality, ...(await measure(quality)) };
    if (middle.ssim < target) low = middle;
    else high = middle;
  }
  const part = (target - low.ssim) / (high.ssim - low.ssim);
  return {
    quality: low.quality + part,
    bytes: Math.round(low.bytes * (high.bytes / low.bytes) ** part),
    ssim: target,
  };
}

/** Median milliseconds of each run; interleaved, so that other load affects all of them equally. */
async function interleaved(runs: readonly (() => Sharp)[], repetitions: number): Promise<number[]> {
  const times = runs.map((): number[] => []);
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const [index, run] of runs.entries()) {
      const image = run();
      const startedAt = performance.now();
      await image.toBuffer();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return times.map((all) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0);
}
