import type { Measure } from '../report.ts';
import { geometricMean } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import type { EncodedFormat } from '../servers/encoder-settings.ts';
import type { Curves, EncodersBench, Photographs } from './bench.ts';
import { type Encode, meanCurve, measureCurve, measurePoint, pointAt } from './curves.ts';
import { reportEqualScores, reportLossless } from './equal-scores.ts';
import type { Meter, Photograph } from './meter.ts';
import { comparedFormats, encodeAs } from './service-encodings.ts';

interface OtherEncoder {
  readonly format: EncodedFormat;
  readonly encode: Encode;
  /** On the encoder's own scale, with scores below and above the service's. */
  readonly qualities: readonly number[];
  /** On photographs, at the same SSIMULACRA2: at most this multiple of its time and bytes. */
  readonly goal: { readonly time: number; readonly bytes: number };
}

/** sharp with the quality only, and mozjpeg. */
const otherEncoders: Readonly<Record<string, OtherEncoder>> = {
  'sharp’s JPEG': {
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality }).toBuffer(),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 2, bytes: 1 },
  },
  mozjpeg: {
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality, mozjpeg: true }).toBuffer(),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 0.5, bytes: 1.1 },
  },
  'sharp’s WebP': {
    format: 'webp',
    encode: (image, quality) => image.webp({ quality }).toBuffer(),
    qualities: [25, 50, 70, 85, 96],
    goal: { time: 1.05, bytes: 1.1 },
  },
  'sharp’s AVIF': {
    format: 'avif',
    encode: (image, quality) => image.avif({ quality }).toBuffer(),
    qualities: [33, 58, 84],
    goal: { time: 0.12, bytes: 1.12 },
  },
};
const qualities = [40, 60, 80, 90];

/**
 * @param withGoals whether to compare with the goals
 * @param withOthers whether to compare with other encoders
 */
export const encoders = (withGoals: boolean, withOthers: boolean): Scenario<EncodersBench> => ({
  title: 'Encoders at equal quality',
  method:
    'Mean score, bytes and CPU time of the service’s settings at the same q, over all photographs of one size. Bytes and time of other settings are interpolated at the same mean score, those of the formats at the same score of each photograph.',
  measures: Object.fromEntries(
    Object.entries(withOthers ? otherEncoders : {}).flatMap(([name, { goal }]) =>
      (['time', 'bytes'] as const).map((what): [string, Measure] => [
        `${what}, of ${name}`,
        {
          what: `${what} at the same mean score, divided by that of ${name}: the geometric mean`,
          unit: '×',
          ...(withGoals && { goal: { atMost: goal[what] } }),
        },
      ]),
    ),
  ),
  async run(bench) {
    const own = await compareFormats(bench, 'photographs', bench.photographs);
    if (bench.drawings.size > 0) {
      await compareFormats(bench, 'drawings', bench.drawings);
      await reportLossless(bench, bench.drawings);
    }
    if (withOthers) await compareOthers(bench, own);
  },
});

/** Reports the service's formats. @returns their curves by size */
async function compareFormats(
  { results, meter }: EncodersBench,
  name: string,
  photographs: Photographs,
): Promise<ReadonlyMap<number, Curves>> {
  const curves = new Map<number, Curves>();
  for (const [side, ofSide] of photographs) {
    results.progress(`${ofSide.length} ${name}, ${side} px`);
    curves.set(side, await measureCurves(ofSide, meter));
  }
  const heads = comparedFormats.flatMap((format) => [format, 'bytes', 'ms', meter.name]);
  const rows = [['px', 'q', ...heads]];
  for (const [side, ofSide] of curves) {
    for (const [index, quality] of qualities.entries()) {
      const cells = comparedFormats.flatMap((format) => {
        const { bytes = 0, ms = 0, score = 0 } = meanCurve(ofSide[format])[index] ?? {};
        return ['', bytes.toFixed(0), ms.toFixed(1), score.toFixed(meter.digits)];
      });
      rows.push([String(side), String(quality), ...cells]);
    }
  }
  results.table({ title: `Means over the ${name}`, rows });
  reportEqualScores(results, name, curves);
  return curves;
}

/** Of each photograph the formats follow each other, so that other load changes over all of them. */
async function measureCurves(photographs: readonly Photograph[], meter: Meter): Promise<Curves> {
  const curves: Curves = { jpeg: [], webp: [], avif: [], jxl: [] };
  for (const photograph of photographs) {
    for (const format of comparedFormats) curves[format].push([]);
    for (const quality of qualities) {
      for (const format of comparedFormats) {
        const point = await measurePoint(encodeAs(format), quality, photograph, meter);
        curves[format].at(-1)?.push(point);
      }
    }
  }
  return curves;
}

async function compareOthers(
  { results, meter, photographs }: EncodersBench,
  own: ReadonlyMap<number, Curves>,
): Promise<void> {
  for (const [name, { format, encode, qualities }] of Object.entries(otherEncoders)) {
    const [time, bytes]: [number[], number[]] = [[], []];
    for (const [side, ofSide] of photographs) {
      results.progress(`${name}, ${side} px`);
      const curve = await measureCurve(encode, qualities, ofSide, meter);
      for (const point of meanCurve(own.get(side)?.[format] ?? [])) {
        const theirs = pointAt(curve, point.score);
        if (theirs === null) continue;
        time.push(point.ms / theirs.ms);
        bytes.push(point.bytes / theirs.bytes);
      }
    }
    const caseName = `${time.length} means`;
    results.finding(`time, of ${name}`, caseName, [geometricMean(time)]);
    results.finding(`bytes, of ${name}`, caseName, [geometricMean(bytes)]);
  }
}
