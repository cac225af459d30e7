import type { Measure, Results } from '../report.ts';
import { geometricMean } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import {
  type EncodedFormat,
  encodeAsService,
  encodedFormats,
} from '../servers/encoder-settings.ts';
import { curveOf, type Encode, type Point, pointAt } from './curves.ts';
import type { Meter, Photograph } from './meter.ts';

interface OtherEncoder {
  readonly format: EncodedFormat;
  readonly encode: Encode;
  /** On its own scale, with scores below and above those of the service. */
  readonly qualities: readonly number[];
  /** On photographs, at the same SSIMULACRA2: at most this multiple of its time and bytes. */
  readonly goal: { readonly time: number; readonly bytes: number };
}

/** sharp with the quality only, and mozjpeg. */
const otherEncoders: Readonly<Record<string, OtherEncoder>> = {
  'sharp’s JPEG': {
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality }),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 2, bytes: 1 },
  },
  mozjpeg: {
    format: 'jpeg',
    encode: (image, quality) => image.jpeg({ quality, mozjpeg: true }),
    qualities: [30, 50, 70, 85, 94],
    goal: { time: 0.5, bytes: 1.1 },
  },
  'sharp’s WebP': {
    format: 'webp',
    encode: (image, quality) => image.webp({ quality }),
    qualities: [25, 50, 70, 85, 96],
    goal: { time: 1.05, bytes: 1.1 },
  },
  'sharp’s AVIF': {
    format: 'avif',
    encode: (image, quality) => image.avif({ quality }),
    qualities: [33, 58, 84],
    goal: { time: 0.12, bytes: 1.12 },
  },
};
const qualities = [40, 60, 80, 90];

export interface EncodersBench {
  readonly results: Results;
  readonly meter: Meter;
  /** By the length of their longer sides. */
  readonly photographs: ReadonlyMap<number, readonly Photograph[]>;
}

/** @param withGoals whether to compare with the goals */
export const encoders = (withGoals: boolean): Scenario<EncodersBench> => ({
  title: 'Encoders at equal quality',
  method:
    'Mean score, bytes and CPU time of the service’s settings at the same q, over all photographs of one size. Bytes and time of other settings are interpolated at the same mean score.',
  measures: Object.fromEntries(
    Object.entries(otherEncoders).flatMap(([name, { goal }]) =>
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
  async run({ results, meter, photographs }) {
    const heads = encodedFormats.flatMap((format) => [format, 'bytes', 'ms', meter.name]);
    const rows = [['px', 'q', ...heads]];
    const own = new Map<string, Point[]>();
    for (const [side, ofSide] of photographs) {
      for (const format of encodedFormats) {
        results.progress(`${format}, ${side} px`);
        const encode: Encode = (image, quality, pixels) =>
          encodeAsService(image, format, quality, pixels);
        own.set(`${format} ${side}`, await curveOf(encode, qualities, ofSide, meter));
      }
      for (const [index, quality] of qualities.entries()) {
        const cells = encodedFormats.flatMap((format) => {
          const point = own.get(`${format} ${side}`)?.[index];
          const { bytes = 0, ms = 0, score = 0 } = point ?? {};
          return ['', bytes.toFixed(0), ms.toFixed(1), score.toFixed(meter.digits)];
        });
        rows.push([String(side), String(quality), ...cells]);
      }
    }
    results.table({ title: 'Means over the photographs', rows });
    for (const [name, { format, encode, qualities }] of Object.entries(otherEncoders)) {
      const [time, bytes]: [number[], number[]] = [[], []];
      for (const [side, ofSide] of photographs) {
        results.progress(`${name}, ${side} px`);
        const curve = await curveOf(encode, qualities, ofSide, meter);
        for (const point of own.get(`${format} ${side}`) ?? []) {
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
  },
});
