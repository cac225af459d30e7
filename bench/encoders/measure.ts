import type { Sharp } from 'sharp';
import type { Source } from './sources.ts';
import { ssim, toReference } from './ssim.ts';
import type { Ssimulacra2 } from './ssimulacra2.ts';

export type Encode = (image: Sharp, quality: number, pixels: number) => Sharp;

/** One encoded photograph. */
export interface Measured {
  readonly quality: number;
  readonly bytes: number;
  /** CPU time of the encoder, in ms: the least of the repetitions, because other load only adds. */
  readonly ms: number;
  /** Null for rivals where SSIMULACRA2 is measured. */
  readonly ssim: number | null;
  /** Null without a command that measures it. */
  readonly ssimulacra2: number | null;
}

/** Short encodes are repeated, until this time is spent. */
const repeatedMs = 60;

export async function measure(
  source: Source,
  encode: Encode,
  quality: number,
  meter: Ssimulacra2 | null,
  metrics: 'all' | 'best' = 'best',
): Promise<Measured> {
  const pixels = source.width * source.height;
  let ms = Number.POSITIVE_INFINITY;
  let spent = 0;
  let encoded: Buffer;
  do {
    const image = encode(source.open(), quality, pixels);
    const before = process.cpuUsage();
    encoded = await image.toBuffer();
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1000;
    ms = Math.min(ms, took);
    spent += took;
  } while (spent < repeatedMs);
  return {
    quality,
    bytes: encoded.length,
    ms,
    ssim:
      meter === null || metrics === 'all'
        ? await ssim(await toReference(source.open()), encoded)
        : null,
    ssimulacra2: meter === null ? null : await meter.score(source, encoded),
  };
}

/** The value of the best metric that was measured. */
export const scoreOf = ({ ssim, ssimulacra2 }: Measured): number => ssimulacra2 ?? ssim ?? 0;

/** Bytes and time at a score, interpolated between measurements; null outside of them. */
export function atScore(
  measured: readonly Measured[],
  score: number,
): { bytes: number; ms: number; quality: number } | null {
  const found = around(measured, scoreOf, score);
  if (found === null) return null;
  const { low, high, part } = found;
  return {
    bytes: low.bytes * (high.bytes / low.bytes) ** part,
    ms: low.ms * (high.ms / low.ms) ** part,
    quality: low.quality + part * (high.quality - low.quality),
  };
}

/** The two measurements around a score, and how far it is from the one to the other; null outside of them. */
export function around<T>(
  measured: readonly T[],
  scoreOf: (one: T) => number,
  score: number,
): { readonly low: T; readonly high: T; readonly part: number } | null {
  const sorted = [...measured].sort((a, b) => scoreOf(a) - scoreOf(b));
  const above = sorted.findIndex((one) => scoreOf(one) >= score);
  const [low, high] = [sorted[above - 1], sorted[above]];
  if (low === undefined || high === undefined) return null;
  return { low, high, part: (score - scoreOf(low)) / (scoreOf(high) - scoreOf(low)) };
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(mean(values.map(Math.log)));
