import {
  type EncodedFormat,
  encodeAsService,
  encodedFormats,
} from '../servers/encoder-settings.ts';
import { textTable } from '../text-table.ts';
import {
  around,
  type Encode,
  geometricMean,
  logInterpolate,
  type Measured,
  mean,
  measure,
  measureAll,
} from './measure.ts';
import type { Meter } from './meter.ts';
import type { Photograph } from './sources.ts';

interface OtherEncoder {
  readonly name: string;
  readonly format: EncodedFormat;
  readonly encode: Encode;
  /** On its own scale, with scores below and above those of the service. */
  readonly qualities: readonly number[];
  /** The goal on photographs, at the same SSIMULACRA2: at most this multiple of its time and bytes. */
  readonly goal: { readonly time: number; readonly bytes: number };
}

/** sharp with the quality only, and mozjpeg. */
const otherEncoders: readonly OtherEncoder[] = [
  {
    name: 'sharp’s JPEG',
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality }),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 2, bytes: 1 },
  },
  {
    name: 'mozjpeg',
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality, mozjpeg: true }),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 0.5, bytes: 1.1 },
  },
  {
    name: 'sharp’s WebP',
    format: 'webp',
    encode: (image, quality) => image.webp({ quality }),
    qualities: [25, 50, 70, 85, 96],
    goal: { time: 1.05, bytes: 1.1 },
  },
  {
    name: 'sharp’s AVIF',
    format: 'avif',
    encode: (image, quality) => image.avif({ quality }),
    qualities: [33, 58, 84],
    goal: { time: 0.12, bytes: 1.12 },
  },
];
/** The goal for the difference between the mean SSIMULACRA2 of two formats at one size and q. */
const maxDeviation = 3;

export const serviceEncoder =
  (format: EncodedFormat): Encode =>
  (image, quality, pixels) =>
    encodeAsService(image, format, quality, pixels);

/** One photograph at one size, quality and format. */
export interface Comparison {
  readonly side: number;
  readonly quality: number;
  readonly format: EncodedFormat;
  readonly measured: Measured;
  /** The service's time and bytes divided by those of another encoder at the same score, by its name. */
  readonly ratios: ReadonlyMap<string, { readonly time: number; readonly bytes: number }>;
}

/** Compares one photograph at one size. */
export async function compare(
  source: Photograph,
  qualities: readonly number[],
  meter: Meter,
): Promise<Comparison[]> {
  const otherCurves = new Map<OtherEncoder, Measured[]>();
  for (const other of otherEncoders) {
    otherCurves.set(other, await measureAll(source, other.encode, other.qualities, meter));
  }
  const side = Math.max(source.width, source.height);
  const found: Comparison[] = [];
  for (const quality of qualities) {
    for (const format of encodedFormats) {
      const measured = await measure(source, serviceEncoder(format), quality, meter);
      const ratios = new Map<string, { time: number; bytes: number }>();
      for (const [other, curve] of otherCurves) {
        const place = other.format === format ? around(curve, measured.score) : null;
        if (place === null) continue;
        const { low, high, part } = place;
        const time = measured.ms / logInterpolate(low.ms, high.ms, part);
        const bytes = measured.bytes / logInterpolate(low.bytes, high.bytes, part);
        ratios.set(other.name, { time, bytes });
      }
      found.push({ side, quality, format, measured, ratios });
    }
  }
  return found;
}

/** @param withGoals whether to compare with the goals */
export function comparisonLines(
  comparisons: readonly Comparison[],
  meter: Meter,
  withGoals: boolean,
): string[] {
  const rows = [
    ['px', 'q', ...encodedFormats.flatMap((name) => [name, 'bytes', 'ms', meter.name])],
  ];
  let deviation = 0;
  const sizes = new Set(comparisons.map(({ side, quality }) => `${side} ${quality}`));
  for (const size of sizes) {
    const means = encodedFormats.map((format) => {
      const all = comparisons
        .filter((one) => `${one.side} ${one.quality}` === size && one.format === format)
        .map(({ measured }) => measured);
      const meanOf = (key: keyof Measured) => mean(all.map((one) => one[key]));
      return { bytes: meanOf('bytes'), ms: meanOf('ms'), score: meanOf('score') };
    });
    const scores = means.map(({ score }) => score);
    deviation = Math.max(deviation, Math.max(...scores) - Math.min(...scores));
    const cells = means.flatMap(({ bytes, ms, score }) => [
      '',
      bytes.toFixed(0),
      ms.toFixed(1),
      score.toFixed(meter.digits),
    ]);
    rows.push([...size.split(' '), ...cells]);
  }
  const bound = withGoals
    ? ` (at most ${maxDeviation}: ${deviation <= maxDeviation ? 'met' : 'NOT met'})`
    : '';
  return [
    textTable(rows, 0),
    `\nAt the same ${meter.name}, as geometric means:`,
    ...otherEncoders.map((other) => verdict(other, comparisons, withGoals)),
    `Means of the formats differ by up to ${deviation.toFixed(meter.digits)} at one size and q${bound}.`,
  ];
}

function verdict(
  { name, format, goal }: OtherEncoder,
  comparisons: readonly Comparison[],
  withGoals: boolean,
): string {
  const ratios = comparisons.flatMap((one) => one.ratios.get(name) ?? []);
  if (ratios.length === 0) return `${format}: ${name} never had the same score`;
  const time = geometricMean(ratios.map((one) => one.time));
  const bytes = geometricMean(ratios.map((one) => one.bytes));
  const found = `${format}: ${time.toFixed(3)} x the time of ${name}, ${bytes.toFixed(3)} x the bytes`;
  if (!withGoals) return found;
  const met = time <= goal.time && bytes <= goal.bytes ? 'met' : 'NOT met';
  return `${found} (at most ${goal.time} x and ${goal.bytes} x: ${met})`;
}
