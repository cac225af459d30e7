import { encodings } from '../../pool/rendering/encode.ts';
import { atScore, type Encode, type Measured, measure, scoreOf } from './measure.ts';
import type { Source } from './sources.ts';
import type { Ssimulacra2 } from './ssimulacra2.ts';

export const formats = ['jpeg', 'webp', 'avif'] as const;
export type Format = (typeof formats)[number];

interface Rival {
  readonly name: string;
  readonly format: Format;
  readonly encode: Encode;
  /** On its own scale, around the scores of `qualities`. */
  readonly qualities: readonly number[];
}

/** sharp with nothing but the quality, and mozjpeg. */
export const rivals: readonly Rival[] = [
  {
    name: 'sharp’s JPEG',
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality }),
    qualities: [30, 50, 70, 85, 94],
  },
  {
    name: 'mozjpeg',
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality, mozjpeg: true }),
    qualities: [30, 50, 70, 85, 94],
  },
  {
    name: 'sharp’s WebP',
    format: 'webp',
    encode: (image, quality) => image.webp({ quality }),
    qualities: [25, 50, 70, 85, 96],
  },
  {
    name: 'sharp’s AVIF',
    format: 'avif',
    encode: (image, quality) => image.avif({ quality }),
    qualities: [33, 58, 84],
  },
];

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

export interface Comparison {
  readonly side: number;
  readonly quality: number;
  readonly format: Format;
  readonly measured: Measured;
  /** Our part of a rival's time and bytes at the same score, by the rival's name. */
  readonly parts: ReadonlyMap<string, { readonly ms: number; readonly bytes: number }>;
}

/** Compares one photograph at one size. */
export async function compare(
  source: Source,
  qualities: readonly number[],
  meter: Ssimulacra2 | null,
): Promise<Comparison[]> {
  const theirs = new Map<string, Measured[]>();
  for (const { name, encode, qualities: own } of rivals) {
    const measured: Measured[] = [];
    for (const quality of own) measured.push(await measure(source, encode, quality, meter));
    theirs.set(name, measured);
  }
  const side = Math.max(source.width, source.height);
  const found: Comparison[] = [];
  for (const quality of qualities) {
    for (const format of formats) {
      const measured = await measure(source, ours(format), quality, meter, 'all');
      const parts = new Map<string, { ms: number; bytes: number }>();
      for (const rival of rivals.filter((one) => one.format === format)) {
        const equal = atScore(theirs.get(rival.name) ?? [], scoreOf(measured));
        if (equal === null) continue;
        parts.set(rival.name, { ms: measured.ms / equal.ms, bytes: measured.bytes / equal.bytes });
      }
      found.push({ side, quality, format, measured, parts });
    }
  }
  return found;
}
