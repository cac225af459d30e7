import { around, geometricMean, logInterpolate, meanCurve } from '../../encoders/measure.ts';

/** A server's image of one photograph. */
export interface Point {
  readonly score: number;
  readonly bytes: number;
}

/** With a quality on the encoder's own scale. */
export interface CurvePoint extends Point {
  readonly quality: number;
}

/** The bytes of a photograph at a score, interpolated in their logarithm; null outside of the curve. */
export function bytesAt(curve: readonly Point[], score: number): number | null {
  const found = around(curve, score);
  return found && logInterpolate(found.low.bytes, found.high.bytes, found.part);
}

/**
 * The whole quality whose mean score over all photographs is nearest to a score, by interpolation; the
 * last one measured where all scores are on one side of it.
 * @param curves one for each photograph, all of the same qualities
 */
export function qualityNearest(
  curves: ReadonlyArray<readonly CurvePoint[]>,
  score: number,
): { readonly quality: number; readonly reached: boolean } {
  const means = meanCurve(curves);
  const found = around(means, score);
  if (found !== null) {
    const { low, high, part } = found;
    const quality = Math.round(low.quality + part * (high.quality - low.quality));
    return { quality, reached: true };
  }
  const [last] = means.sort((a, b) => Math.abs(a.score - score) - Math.abs(b.score - score));
  return { quality: last?.quality ?? Number.NaN, reached: last?.score === score };
}

/** The ratio of bytes at equal scores: a geometric mean over the photographs. */
export interface BytesRatio {
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  /** Photographs whose score was within the curve of the other. */
  readonly count: number;
}

/** Both have one for each photograph, in the same order. */
export function bytesRatio(
  own: readonly Point[],
  others: ReadonlyArray<readonly CurvePoint[]>,
): BytesRatio {
  const parts = own.flatMap(({ score, bytes }, at) => {
    const other = bytesAt(others[at] ?? [], score);
    return other === null ? [] : [bytes / other];
  });
  return {
    ratio: parts.length === 0 ? Number.NaN : geometricMean(parts),
    least: Math.min(...parts),
    most: Math.max(...parts),
    count: parts.length,
  };
}

export interface Standing {
  readonly name: string;
  readonly bytes: number;
  readonly perSecond: number;
}

/** The servers with both fewer bytes and more images per second. */
export const aheadOf = (one: Standing, all: readonly Standing[]): Standing[] =>
  all.filter(({ bytes, perSecond }) => bytes < one.bytes && perSecond > one.perSecond);

/** The servers for which no other has both; without those with a NaN. */
export const paretoFront = (all: readonly Standing[]): Standing[] =>
  all
    .filter(({ bytes, perSecond }) => Number.isFinite(bytes) && Number.isFinite(perSecond))
    .filter((one) => aheadOf(one, all).length === 0);
