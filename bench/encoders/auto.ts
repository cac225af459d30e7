import { autoQuality } from '../../pool/rendering/encode/auto-quality.ts';
import { type EncodedFormat, encodedFormats } from '../servers/encoder-settings.ts';
import { textTable } from '../text-table.ts';
import { serviceEncoder } from './compare.ts';
import { logInterpolate, type Measured, mean, meanCurve, measure, measureAll } from './measure.ts';
import type { Meter } from './meter.ts';
import type { Photograph } from './sources.ts';

/** One photograph in one format, with `q=auto` and with fixed qualities. */
export interface AutoMeasured {
  readonly format: EncodedFormat;
  readonly auto: Measured;
  readonly fixed: readonly Measured[];
}

export async function measureAuto(
  source: Photograph,
  qualities: readonly number[],
  meter: Meter,
): Promise<AutoMeasured[]> {
  const { data, width, height } = source;
  const quality = autoQuality({ data, width, height, channels: 3 });
  const found: AutoMeasured[] = [];
  for (const format of encodedFormats) {
    const encode = serviceEncoder(format);
    const fixed = await measureAll(source, encode, qualities, meter);
    found.push({ format, auto: await measure(source, encode, quality, meter), fixed });
  }
  return found;
}

type Scored = Pick<Measured, 'score' | 'bytes'>;

/**
 * Compares `q=auto` with the one quality that has the same mean score, for photographs of one size; and
 * the mean scores of the formats at the same quality.
 */
export function autoLines(side: number, all: readonly AutoMeasured[]): string[] {
  const heads = ['q', 'mean', 'deviation', 'least', 'bytes'];
  const rows = encodedFormats.map((format) => {
    const measured = all.filter((one) => one.format === format);
    const auto = measured.map((one) => one.auto);
    const qualities = auto.map(({ quality }) => quality);
    const at = (quality: number) => measured.map(({ fixed }) => interpolated(fixed, quality));
    let [low, high] = [1, 100];
    while (high - low > 0.01) {
      const middle = (low + high) / 2;
      if (meanScore(at(middle)) < meanScore(auto)) low = middle;
      else high = middle;
    }
    const ratio = sumOfBytes(auto) / sumOfBytes(at(low));
    const range = `${Math.min(...qualities)}-${Math.max(...qualities)}`;
    return [
      String(side),
      format,
      ...cells(range, auto, ratio),
      '|',
      ...cells(low.toFixed(1), at(low), 1),
    ];
  });
  const [jpeg = [], ...others] = encodedFormats.map((format) =>
    meanCurve(all.filter((one) => one.format === format).map((one) => one.fixed)),
  );
  const differences = others.map((curve, index) => {
    const points = curve.map(({ score }, at) => (score - (jpeg[at]?.score ?? 0)).toFixed(1));
    return `${encodedFormats[index + 1]} ${points.join(' ')}`;
  });
  const qualities = jpeg.map(({ quality }) => quality).join(', ');
  return [
    textTable([['px', 'format', ...heads, '|', ...heads], ...rows], 0),
    `mean score minus that of JPEG at q=${qualities}: ${differences.join(', ')}`,
  ];
}

const meanScore = (all: readonly Scored[]): number => mean(all.map(({ score }) => score));

const sumOfBytes = (all: readonly Scored[]): number =>
  all.reduce((sum, { bytes }) => sum + bytes, 0);

function cells(quality: string, all: readonly Scored[], bytes: number): string[] {
  const scores = all.map(({ score }) => score);
  const deviation = Math.sqrt(mean(scores.map((score) => (score - meanScore(all)) ** 2)));
  const figures = [meanScore(all), deviation, Math.min(...scores)];
  return [quality, ...figures.map((value) => value.toFixed(1)), bytes.toFixed(3)];
}

/** Score and bytes at a quality, interpolated between measurements, extrapolated outside. */
function interpolated(measured: readonly Measured[], quality: number): Scored {
  const after = measured.findIndex((one) => one.quality >= quality);
  const upper = after === -1 ? measured.length - 1 : Math.max(1, after);
  const [low, high] = [measured[upper - 1], measured[upper]];
  if (low === undefined || high === undefined) throw new Error('two qualities are needed');
  const part = (quality - low.quality) / (high.quality - low.quality);
  return {
    score: low.score + part * (high.score - low.score),
    bytes: logInterpolate(low.bytes, high.bytes, part),
  };
}
