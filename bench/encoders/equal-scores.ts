import type { Results } from '../report.ts';
import { geometricMean } from '../rounds.ts';
import type { Curves, EncodersBench, Photographs } from './bench.ts';
import { measureCurve, pointAt } from './curves.ts';
import {
  type ComparedFormat,
  comparedFormats,
  encodeAs,
  losslessFormats,
} from './service-encodings.ts';

/** The format that the others are compared with. */
const base = 'webp';

/** Reports each format's bytes and time at WebP's scores, divided by WebP's. */
export function reportEqualScores(
  results: Results,
  name: string,
  curves: ReadonlyMap<number, Curves>,
): void {
  const others = comparedFormats.filter((format) => format !== base);
  const rows = [['px', ...others.flatMap((format) => [format, 'bytes', 'time', 'scores'])]];
  for (const [side, ofSide] of curves) {
    const cells = others.flatMap((format) => {
      const { bytes, ms } = computeRatios(ofSide, format);
      return ['', multiple(bytes), multiple(ms), String(bytes.length)];
    });
    rows.push([String(side), ...cells]);
  }
  results.table({ title: `Of WebP at the same score of each of the ${name}`, rows });
}

function computeRatios(curves: Curves, format: ComparedFormat): Record<'bytes' | 'ms', number[]> {
  const ratios: Record<'bytes' | 'ms', number[]> = { bytes: [], ms: [] };
  for (const [index, curve] of curves[base].entries()) {
    for (const point of curve) {
      const same = pointAt(curves[format][index] ?? [], point.score);
      if (same === null) continue;
      ratios.bytes.push(same.bytes / point.bytes);
      ratios.ms.push(same.ms / point.ms);
    }
  }
  return ratios;
}

const multiple = (values: readonly number[]): string =>
  values.length === 0 ? '-' : `${geometricMean(values).toFixed(2)} x`;

/** Reports bytes and time of the formats that keep every pixel. */
export async function reportLossless(
  { results, meter }: EncodersBench,
  photographs: Photographs,
): Promise<void> {
  const rows = [['px', ...losslessFormats.flatMap((format) => [format, 'bytes', 'ms'])]];
  for (const [side, ofSide] of photographs) {
    results.progress(`without loss, ${side} px`);
    const cells: string[] = [];
    for (const format of losslessFormats) {
      const [mean] = await measureCurve(encodeAs(format, true), [100], ofSide, meter);
      cells.push('', mean?.bytes.toFixed(0) ?? '-', mean?.ms.toFixed(1) ?? '-');
    }
    rows.push([String(side), ...cells]);
  }
  results.table({ title: 'Drawings without loss, geometric means', rows });
}
