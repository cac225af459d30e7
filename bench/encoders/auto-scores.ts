import { autoQuality } from '../../pool/rendering/encode/auto-quality.ts';
import { mean } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import type { EncodersBench } from './bench.ts';
import { measureCurve, measurePoint, type Point, pointAt } from './curves.ts';
import type { Meter, Photograph } from './meter.ts';
import { type ComparedFormat, encodeAs } from './service-encodings.ts';

const formats = ['jpeg', 'webp', 'avif'] as const satisfies ComparedFormat[];

/** Compares scores for `q=auto` with scores for a fixed quality with the same mean. */
export const autoScores: Scenario<EncodersBench> = {
  title: 'q=auto',
  method:
    'Scores of the photographs with the quality that q=auto chooses, beside those with the one quality that has the same mean: mean, standard deviation, the score that nine of ten reach, the least, and the sum of bytes divided by that with the one quality.',
  measures: {},
  async run({ results, meter, photographs }) {
    const head = ['mean', 'deviation', 'tenth', 'least'];
    const rows = [['px', 'format', 'q', ...head, 'bytes', 'one q', ...head.slice(1)]];
    for (const [side, ofSide] of photographs) {
      for (const format of formats) {
        results.progress(`${format}, ${side} px`);
        rows.push([String(side), format, ...(await compare(ofSide, format, meter))]);
      }
    }
    results.table({ title: 'q=auto and one q', rows });
  },
};

async function compare(
  photographs: readonly Photograph[],
  format: ComparedFormat,
  meter: Meter,
): Promise<string[]> {
  const encode = encodeAs(format);
  const scored = async (chooseQuality: (photograph: Photograph) => number | Promise<number>) => {
    const points: Point[] = [];
    for (const photograph of photographs) {
      points.push(await measurePoint(encode, await chooseQuality(photograph), photograph, meter));
    }
    return points;
  };
  const own = await scored(chosenQuality);
  const average = mean(own.map(({ score }) => score));
  const curve = await measureCurve(encode, [60, 70, 75, 80, 85, 89], photographs, meter);
  const quality = pointAt(curve, average)?.quality ?? Number.NaN;
  const others = await scored(() => Math.round(quality));
  const qualities = own.map((point) => point.quality);
  const bytes = (points: readonly Point[]) => points.reduce((sum, point) => sum + point.bytes, 0);
  return [
    `${Math.min(...qualities)}-${Math.max(...qualities)}`,
    average.toFixed(meter.digits),
    ...spread(own, meter),
    `${(bytes(own) / bytes(others)).toFixed(2)} x`,
    quality.toFixed(1),
    ...spread(others, meter),
  ];
}

async function chosenQuality({ open }: Photograph): Promise<number> {
  const { data, info } = await open().raw().toBuffer({ resolveWithObject: true });
  return autoQuality({ data, ...info });
}

/** Returns the scores' standard deviation, first decile and minimum. */
function spread(points: readonly Point[], { digits }: Meter): string[] {
  const scores = points.map(({ score }) => score).sort((a, b) => a - b);
  const average = mean(scores);
  const deviation = Math.sqrt(mean(scores.map((score) => (score - average) ** 2)));
  const tenth = scores[Math.floor(scores.length / 10)] ?? Number.NaN;
  return [deviation, tenth, scores[0] ?? Number.NaN].map((value) => value.toFixed(digits));
}
