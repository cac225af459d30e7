import sharp, { type Sharp } from 'sharp';
import { geometricMean, mean } from '../rounds.ts';
import type { Meter, Photograph } from './meter.ts';

export type Encode = (image: Sharp, quality: number, pixels: number) => Sharp;

/** @param side of the longer side, in pixels; null for a photograph that is smaller or grey */
export async function photographOf(file: Buffer, side: number): Promise<Photograph | null> {
  const { data, info } = await sharp(file, { autoOrient: true })
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels !== 3 || Math.max(width, height) < side) return null;
  return { width, height, open: () => sharp(data, { raw: { width, height, channels } }) };
}

/** The means over all photographs at one quality. */
export interface Point {
  readonly quality: number;
  readonly score: number;
  /** Geometric. */
  readonly bytes: number;
  /** CPU time, ms; geometric. */
  readonly ms: number;
}

/** Short encodes are repeated for this CPU time. */
const repeatedMs = 60;

/** Encodes all photographs at each quality. */
export async function curveOf(
  encode: Encode,
  qualities: readonly number[],
  photographs: readonly Photograph[],
  meter: Meter,
): Promise<Point[]> {
  const points: Point[] = [];
  for (const quality of qualities) {
    const [scores, bytes, times]: [number[], number[], number[]] = [[], [], []];
    for (const one of photographs) {
      let [least, spent, encoded] = [Number.POSITIVE_INFINITY, 0, Buffer.of()];
      while (spent < repeatedMs) {
        const image = encode(one.open(), quality, one.width * one.height);
        const before = process.cpuUsage();
        encoded = await image.toBuffer();
        const { user, system } = process.cpuUsage(before);
        // The minimum, because other load only adds.
        least = Math.min(least, (user + system) / 1_000);
        spent += (user + system) / 1_000;
      }
      scores.push(await meter.score(one, encoded));
      bytes.push(encoded.length);
      times.push(least);
    }
    const [size, ms] = [geometricMean(bytes), geometricMean(times)];
    points.push({ quality, score: mean(scores), bytes: size, ms });
  }
  return points;
}

/** The point of a curve at a score, interpolated (bytes and time in their logarithm); null outside of it. */
export function pointAt(curve: readonly Point[], score: number): Point | null {
  const sorted = [...curve].sort((a, b) => a.score - b.score);
  const above = sorted.findIndex((point) => point.score >= score);
  const [low, high] = [sorted[above - 1], sorted[above]];
  if (low === undefined || high === undefined) return null;
  const part = (score - low.score) / (high.score - low.score);
  return {
    quality: low.quality + part * (high.quality - low.quality),
    score,
    bytes: low.bytes * (high.bytes / low.bytes) ** part,
    ms: low.ms * (high.ms / low.ms) ** part,
  };
}
