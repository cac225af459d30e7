import type { Sharp } from 'sharp';
import type { Meter } from './meter.ts';
import type { Photograph } from './sources.ts';

export type Encode = (image: Sharp, quality: number, pixels: number) => Sharp;

/** One encoded photograph. */
export interface Measured {
  readonly quality: number;
  readonly bytes: number;
  /** CPU time of the encoder, in ms: the minimum of the repetitions, because other load only adds. */
  readonly ms: number;
  readonly score: number;
}

/** Short encodes are repeated for this CPU time. */
const repeatedMs = 60;

export async function measure(
  source: Photograph,
  encode: Encode,
  quality: number,
  meter: Meter,
): Promise<Measured> {
  let ms = Number.POSITIVE_INFINITY;
  let spent = 0;
  let encoded: Buffer;
  do {
    const image = encode(source.open(), quality, source.width * source.height);
    const before = process.cpuUsage();
    encoded = await image.toBuffer();
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1000;
    ms = Math.min(ms, took);
    spent += took;
  } while (spent < repeatedMs);
  return { quality, bytes: encoded.length, ms, score: await meter.score(source, encoded) };
}

/** Measures several qualities, one after the other. */
export async function measureAll(
  source: Photograph,
  encode: Encode,
  qualities: readonly number[],
  meter: Meter,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const quality of qualities) measured.push(await measure(source, encode, quality, meter));
  return measured;
}

/** The two measurements around a score, and its place between them (0 to 1); null outside of them. */
export function around<T extends { readonly score: number }>(
  measured: readonly T[],
  score: number,
): { readonly low: T; readonly high: T; readonly part: number } | null {
  const sorted = [...measured].sort((a, b) => a.score - b.score);
  const above = sorted.findIndex((one) => one.score >= score);
  const [low, high] = [sorted[above - 1], sorted[above]];
  if (low === undefined || high === undefined) return null;
  return { low, high, part: (score - low.score) / (high.score - low.score) };
}

/** Interpolates in the logarithm. */
export const logInterpolate = (low: number, high: number, part: number): number =>
  low * (high / low) ** part;

/** The mean scores over several photographs that were measured at the same qualities. */
export const meanCurve = (
  curves: ReadonlyArray<ReadonlyArray<Pick<Measured, 'quality' | 'score'>>>,
): { quality: number; score: number }[] =>
  (curves[0] ?? []).map(({ quality }, index) => ({
    quality,
    score: mean(curves.map((curve) => curve[index]?.score ?? Number.NaN)),
  }));

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(mean(values.map(Math.log)));
