import type { Mode } from '../../pool/rendering/encode/quality.ts';
import { ownScale } from '../../pool/rendering/encode.ts';
import { type Encode, type Measured, mean, measure, scoreOf } from './measure.ts';
import type { Source } from './sources.ts';
import type { Ssimulacra2 } from './ssimulacra2.ts';

const requested = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
const own = [5, 15, 25, 35, 45, 55, 65, 75, 85, 93, 99];

/** The scale of `q`: JPEG with the standard's tables. */
const scale: Encode = (image, quality) => image.jpeg({ quality, chromaSubsampling: '4:2:0' });

/**
 * Finds the qualities of each encoder that have the mean score of the scale over all photographs of one
 * size: the points of the curves in pool/rendering/encode/quality.ts.
 */
export async function calibrate(
  sources: readonly Source[],
  meter: Ssimulacra2 | null,
): Promise<string[]> {
  const wanted = await meanScores(sources, scale, requested, meter);
  const lines: string[] = [];
  for (const [mode, encode] of Object.entries(ownScale) as [Mode, Encode][]) {
    // Has AVIF's curve, for images that are no photographs.
    if (mode === 'avifGraphic') continue;
    const found = await meanScores(sources, encode, own, meter);
    const points = requested.map((quality, index) => {
      return `[${quality}, ${crossing(found, wanted[index] ?? 0).toFixed(1)}]`;
    });
    lines.push(`${mode}: ${points.join(', ')}`);
  }
  return lines;
}

async function meanScores(
  sources: readonly Source[],
  encode: Encode,
  qualities: readonly number[],
  meter: Ssimulacra2 | null,
): Promise<number[]> {
  const means: number[] = [];
  for (const quality of qualities) {
    const measured: Measured[] = [];
    for (const source of sources) measured.push(await measure(source, encode, quality, meter));
    means.push(mean(measured.map(scoreOf)));
  }
  return means;
}

/** The quality at which the measured curve reaches the score, by linear interpolation. */
function crossing(found: readonly number[], score: number): number {
  const above = found.findIndex((value) => value >= score);
  if (above <= 0) return above === -1 ? 100 : (own[0] ?? 1);
  const [low = 1, high = 100] = [own[above - 1], own[above]];
  const [from = score, to = score] = [found[above - 1], found[above]];
  return to === from ? high : low + ((score - from) / (to - from)) * (high - low);
}
