import { encodings } from '../../pool/rendering/encode.ts';
import { textTable } from '../text-table.ts';
import {
  around,
  between,
  type Encode,
  geometricMean,
  type Measured,
  mean,
  measure,
  measureAll,
} from './measure.ts';
import type { Meter } from './meter.ts';
import type { Source } from './sources.ts';

export const formats = ['jpeg', 'webp', 'avif'] as const;
export type Format = (typeof formats)[number];

interface Rival {
  readonly name: string;
  readonly format: Format;
  readonly encode: Encode;
  /** On its own scale, around the scores of the service. */
  readonly qualities: readonly number[];
  /** The goal on photographs, at the same SSIMULACRA2: at most this multiple of its time and bytes. */
  readonly goal: { readonly time: number; readonly bytes: number };
}

/** sharp with the quality only, and mozjpeg. */
const rivals: readonly Rival[] = [
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
const mostDeviation = 3;

/** The service's encoder. */
export const ours =
  (format: Format): Encode =>
  (image, quality, pixels) =>
    encodings[format].encode(image, {
      quality,
      lossless: false,
      sharpChroma: false,
      graphic: false,
      animated: false,
      pixels,
    });

/** One photograph at one size, quality and format. */
export interface Comparison {
  readonly side: number;
  readonly quality: number;
  readonly format: Format;
  readonly measured: Measured;
  /** The service's time and bytes divided by a rival's at the same score, by the rival's name. */
  readonly ratios: ReadonlyMap<string, { readonly time: number; readonly bytes: number }>;
}

/** Compares one photograph at one size. */
export async function compare(
  source: Source,
  qualities: readonly number[],
  meter: Meter,
): Promise<Comparison[]> {
  const theirs = new Map<Rival, Measured[]>();
  for (const rival of rivals) {
    theirs.set(rival, await measureAll(source, rival.encode, rival.qualities, meter));
  }
  const side = Math.max(source.width, source.height);
  const found: Comparison[] = [];
  for (const quality of qualities) {
    for (const format of formats) {
      const measured = await measure(source, ours(format), quality, meter);
      const ratios = new Map<string, { time: number; bytes: number }>();
      for (const [rival, curve] of theirs) {
        const place = rival.format === format ? around(curve, measured.score) : null;
        if (place === null) continue;
        const { low, high, part } = place;
        const time = measured.ms / between(low.ms, high.ms, part);
        const bytes = measured.bytes / between(low.bytes, high.bytes, part);
        ratios.set(rival.name, { time, bytes });
      }
      found.push({ side, quality, format, measured, ratios });
    }
  }
  return found;
}

/** @param judged whether to compare with the goals */
export function comparisonLines(
  comparisons: readonly Comparison[],
  meter: Meter,
  judged: boolean,
): string[] {
  const rows = [['px', 'q', ...formats.flatMap((name) => [name, 'bytes', 'ms', meter.name])]];
  let deviation = 0;
  const sizes = new Set(comparisons.map(({ side, quality }) => `${side} ${quality}`));
  for (const size of sizes) {
    const means = formats.map((format) => {
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
  const bound = judged
    ? ` (at most ${mostDeviation}: ${deviation <= mostDeviation ? 'met' : 'NOT met'})`
    : '';
  return [
    textTable(rows, 0),
    `\nAt the same ${meter.name}, as geometric means:`,
    ...rivals.map((rival) => verdict(rival, comparisons, judged)),
    `Means of the formats differ by up to ${deviation.toFixed(meter.digits)} at one size and q${bound}.`,
  ];
}

function verdict(
  { name, format, goal }: Rival,
  comparisons: readonly Comparison[],
  judged: boolean,
): string {
  const ratios = comparisons.flatMap((one) => one.ratios.get(name) ?? []);
  if (ratios.length === 0) return `${format}: ${name} never had the same score`;
  const time = geometricMean(ratios.map((one) => one.time));
  const bytes = geometricMean(ratios.map((one) => one.bytes));
  const found = `${format}: ${time.toFixed(3)} x the time of ${name}, ${bytes.toFixed(3)} x the bytes`;
  if (!judged) return found;
  const met = time <= goal.time && bytes <= goal.bytes ? 'met' : 'NOT met';
  return `${found} (at most ${goal.time} x and ${goal.bytes} x: ${met})`;
}
