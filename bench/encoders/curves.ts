import sharp, { type Sharp } from 'sharp';
import { classifyPixels } from '../../pool/rendering/encode/pixel-traits.ts';
import { geometricMean, mean } from '../rounds.ts';
import type { Meter, Photograph } from './meter.ts';

/** Encodes the pixels of a photograph. */
export type Encode = (image: Sharp, quality: number, photograph: Photograph) => Promise<Uint8Array>;

/** @param side of the longer side, in pixels; null for a photograph that is smaller or grey */
export async function readPhotograph(file: Buffer, side: number): Promise<Photograph | null> {
  const { data, info } = await sharp(file, { autoOrient: true })
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels !== 3 || Math.max(width, height) < side) return null;
  const traits = classifyPixels({ data, width, height, channels });
  return { width, height, traits, open: () => sharp(data, { raw: { width, height, channels } }) };
}

/** A photograph at one quality, or the means over several. */
export interface Point {
  readonly quality: number;
  readonly score: number;
  /** The mean is geometric. */
  readonly bytes: number;
  /** CPU time, ms; the mean is geometric. */
  readonly ms: number;
}

/**
 * Short encodes repeat for this CPU time, and every encode runs twice: the first run compiles a
 * WebAssembly encoder.
 */
const repeatedMs = 60;

/** Encodes a photograph at one quality. */
export async function measurePoint(
  encode: Encode,
  quality: number,
  photograph: Photograph,
  meter: Meter,
): Promise<Point> {
  let [least, spent, times] = [Number.POSITIVE_INFINITY, 0, 0];
  let encoded: Uint8Array = new Uint8Array();
  while (spent < repeatedMs || times < 2) {
    const image = photograph.open();
    const before = process.cpuUsage();
    encoded = await encode(image, quality, photograph);
    const { user, system } = process.cpuUsage(before);
    // The minimum, because other load only adds.
    least = Math.min(least, (user + system) / 1_000);
    spent += (user + system) / 1_000;
    times += 1;
  }
  const score = await meter.score(photograph, encoded);
  return { quality, score, bytes: encoded.length, ms: least };
}

/** The means over the curves of several photographs at the same qualities. */
export function meanCurve(curves: readonly (readonly Point[])[]): Point[] {
  return (curves[0] ?? []).map(({ quality }, index) => {
    const points = curves.flatMap((curve) => curve[index] ?? []);
    return {
      quality,
      score: mean(points.map(({ score }) => score)),
      bytes: geometricMean(points.map(({ bytes }) => bytes)),
      ms: geometricMean(points.map(({ ms }) => ms)),
    };
  });
}

/** Encodes all photographs at each quality. @returns the means */
export async function measureCurve(
  encode: Encode,
  qualities: readonly number[],
  photographs: readonly Photograph[],
  meter: Meter,
): Promise<Point[]> {
  const curves: Point[][] = [];
  for (const photograph of photographs) {
    const points: Point[] = [];
    for (const quality of qualities) {
      points.push(await measurePoint(encode, quality, photograph, meter));
    }
    curves.push(points);
  }
  return meanCurve(curves);
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
