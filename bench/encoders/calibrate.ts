import type { Mode } from '../../pool/rendering/encode/quality.ts';
import { ownScale } from '../../pool/rendering/encode.ts';
import { around, type Encode, type Measured, meanCurve, measureAll } from './measure.ts';
import type { Meter } from './meter.ts';
import type { Photograph } from './sources.ts';

const requested = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
const own = [5, 15, 25, 35, 45, 55, 65, 75, 85, 93, 99];

/** The scale of `q`: JPEG with the standard's tables. */
const scale: Encode = (image, quality) => image.jpeg({ quality, chromaSubsampling: '4:2:0' });

/**
 * Finds the qualities of each encoder that have the mean score of the scale over all photographs of one
 * size: the points of the curves in pool/rendering/encode/quality.ts.
 */
export async function calibrate(sources: readonly Photograph[], meter: Meter): Promise<string[]> {
  const measureCurve = async (encode: Encode, qualities: readonly number[]) => {
    const curves: Measured[][] = [];
    for (const source of sources) curves.push(await measureAll(source, encode, qualities, meter));
    return meanCurve(curves);
  };
  const wanted = await measureCurve(scale, requested);
  const lines: string[] = [];
  for (const [mode, encode] of Object.entries(ownScale) as [Mode, Encode][]) {
    // They have the curve of AVIF, for images that are not photographs.
    if (mode === 'avifFlat' || mode === 'avifGraphic') continue;
    const found = await measureCurve(encode, own);
    const points = wanted.map(({ quality, score }) => {
      const place = around(found, score);
      const outside = score < (found[0]?.score ?? 0) ? (own[0] ?? 1) : 100;
      const crossing =
        place === null
          ? outside
          : place.low.quality + place.part * (place.high.quality - place.low.quality);
      return `[${quality}, ${crossing.toFixed(1)}]`;
    });
    lines.push(`${mode}: ${points.join(', ')}`);
  }
  return lines;
}
