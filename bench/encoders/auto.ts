import { autoQuality } from '../../pool/rendering/encode/auto-quality.ts';
import { type Format, formats, ours } from './compare.ts';
import { type Measured, mean, measure, scoreOf } from './measure.ts';
import type { Source } from './sources.ts';
import type { Ssimulacra2 } from './ssimulacra2.ts';

/** One photograph in one format, with `q=auto` and with qualities that are the same for all. */
export interface AutoMeasured {
  readonly format: Format;
  readonly auto: Measured;
  readonly fixed: readonly Measured[];
}

export async function measureAuto(
  source: Source,
  qualities: readonly number[],
  meter: Ssimulacra2 | null,
): Promise<AutoMeasured[]> {
  const { data, width, height } = source;
  const quality = autoQuality({ data, width, height, channels: 3 });
  const found: AutoMeasured[] = [];
  for (const format of formats) {
    const at = (quality: number) => measure(source, ours(format), quality, meter);
    const fixed: Measured[] = [];
    for (const quality of qualities) fixed.push(await at(quality));
    found.push({ format, auto: await at(quality), fixed });
  }
  return found;
}

/** Scores of all photographs and the sum of their bytes. */
export interface Outcome {
  readonly mean: number;
  readonly deviation: number;
  readonly least: number;
  readonly bytes: number;
}

/** With `q=auto`, and with the one quality that has the same mean score. */
export interface AutoComparison {
  readonly auto: Outcome;
  readonly lowest: number;
  readonly highest: number;
  readonly fixed: Outcome;
  readonly quality: number;
}

export function compareAuto(measured: readonly AutoMeasured[]): AutoComparison {
  const qualities = measured.map((one) => one.auto.quality);
  const auto = outcome(
    measured.map((one) => ({ score: scoreOf(one.auto), bytes: one.auto.bytes })),
  );
  const fixedAt = (quality: number) =>
    outcome(measured.map(({ fixed }) => between(fixed, quality)));
  let [low, high] = [1, 100];
  while (high - low > 0.01) {
    const middle = (low + high) / 2;
    if (fixedAt(middle).mean < auto.mean) low = middle;
    else high = middle;
  }
  return {
    auto,
    lowest: Math.min(...qualities),
    highest: Math.max(...qualities),
    fixed: fixedAt(low),
    quality: low,
  };
}

function outcome(all: readonly { readonly score: number; readonly bytes: number }[]): Outcome {
  const scores = all.map(({ score }) => score);
  const middle = mean(scores);
  return {
    mean: middle,
    deviation: Math.sqrt(mean(scores.map((score) => (score - middle) ** 2))),
    least: Math.min(...scores),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Score and bytes at a quality, interpolated between measurements, the last ones continued. */
function between(measured: readonly Measured[], quality: number) {
  const after = measured.findIndex((one) => one.quality >= quality);
  const upper = after === -1 ? measured.length - 1 : Math.max(1, after);
  const [low, high] = [measured[upper - 1], measured[upper]];
  if (low === undefined || high === undefined) throw new Error('two qualities are needed');
  const part = (quality - low.quality) / (high.quality - low.quality);
  return {
    score: scoreOf(low) + part * (scoreOf(high) - scoreOf(low)),
    bytes: low.bytes * (high.bytes / low.bytes) ** part,
  };
}
