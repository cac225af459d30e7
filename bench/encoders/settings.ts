import type { AvifOptions, JpegOptions, WebpOptions } from 'sharp';
import { geometricMean } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import type { EncodersBench } from './bench.ts';
import { type Encode, measurePoint, type Point, pointAt } from './curves.ts';
import type { Photograph } from './meter.ts';
import { writeJxl } from './service-encodings.ts';

/** The first settings are the base of the others. */
interface Group {
  readonly title: string;
  readonly pictures: 'photographs' | 'drawings';
  /** On the encoder's scale; empty for lossless settings, to compare only bytes and time. */
  readonly qualities: readonly number[];
  readonly settings: Readonly<Record<string, Encode>>;
}

const jpeg =
  (options: JpegOptions): Encode =>
  (image, quality) =>
    image
      .jpeg({ quality, chromaSubsampling: '4:2:0', quantisationTable: 0, ...options })
      .toBuffer();
const webp =
  (options: WebpOptions): Encode =>
  (image, quality) =>
    image.webp({ quality, effort: 2, ...options }).toBuffer();
const avif =
  (effort: number, tune: 'iq' | 'ssim' | 'psnr', options: AvifOptions = {}): Encode =>
  (image, quality) =>
    image.avif({ quality, effort, tune, chromaSubsampling: '4:4:4', ...options }).toBuffer();
const jxl =
  (effort: number, lossless = false): Encode =>
  (image, quality) =>
    writeJxl(image, { quality: lossless ? null : quality, effort });
const half = { chromaSubsampling: '4:2:0' } as const;

const groups: readonly Group[] = [
  {
    title: 'AVIF',
    pictures: 'photographs',
    qualities: [20, 40, 58, 72, 84, 93],
    settings: {
      '2, ssim, 4:2:0': avif(2, 'ssim', half),
      '0, iq, 4:2:0': avif(0, 'iq', half),
      '0, iq, 4:4:4': avif(0, 'iq'),
      '1, iq, 4:2:0': avif(1, 'iq', half),
      '1, iq, 4:4:4': avif(1, 'iq'),
      '1, iq, 4:4:4, 10 bits': avif(1, 'iq', { bitdepth: 10 }),
      '2, iq, 4:2:0': avif(2, 'iq', half),
      '2, iq, 4:4:4': avif(2, 'iq'),
      '2, ssim, 4:4:4': avif(2, 'ssim'),
      '3, iq, 4:4:4': avif(3, 'iq'),
      '4, iq, 4:4:4': avif(4, 'iq'),
    },
  },
  {
    title: 'WebP',
    pictures: 'photographs',
    qualities: [15, 30, 50, 70, 85, 96],
    settings: {
      'effort 2': webp({}),
      'effort 1': webp({ effort: 1 }),
      'effort 3': webp({ effort: 3 }),
      'effort 4': webp({ effort: 4 }),
      'effort 5': webp({ effort: 5 }),
      smartSubsample: webp({ smartSubsample: true }),
      smartDeblock: webp({ smartDeblock: true }),
      'preset photo': webp({ preset: 'photo' }),
      'preset text': webp({ preset: 'text' }),
    },
  },
  {
    title: 'JPEG',
    pictures: 'photographs',
    qualities: [20, 35, 50, 70, 85, 94],
    settings: {
      'table 0': jpeg({}),
      'table 2': jpeg({ quantisationTable: 2 }),
      'table 3': jpeg({ quantisationTable: 3 }),
      'table 4': jpeg({ quantisationTable: 4 }),
      'table 5': jpeg({ quantisationTable: 5 }),
      'table 2, progressive': jpeg({ quantisationTable: 2, progressive: true }),
      'table 0, 4:4:4': jpeg({ chromaSubsampling: '4:4:4' }),
      'table 3, trellis': jpeg({ quantisationTable: 3, trellisQuantisation: true }),
      'table 2, plain Huffman tables': jpeg({ quantisationTable: 2, optimiseCoding: false }),
      mozjpeg: jpeg({ mozjpeg: true, quantisationTable: 3 }),
    },
  },
  {
    title: 'JPEG XL',
    pictures: 'photographs',
    qualities: [20, 35, 50, 70, 85, 95],
    settings: { 'effort 4': jxl(4), 'effort 3': jxl(3), 'effort 5': jxl(5), 'effort 7': jxl(7) },
  },
  {
    title: 'AVIF of drawings',
    pictures: 'drawings',
    qualities: [20, 40, 58, 72, 84, 93],
    settings: {
      '4, iq': avif(4, 'iq'),
      '0, iq': avif(0, 'iq'),
      '1, iq': avif(1, 'iq'),
      '2, iq': avif(2, 'iq'),
      '2, iq, 10 bits': avif(2, 'iq', { bitdepth: 10 }),
      '2, ssim': avif(2, 'ssim'),
      '2, psnr': avif(2, 'psnr'),
      '3, iq': avif(3, 'iq'),
    },
  },
  {
    title: 'Drawings without loss',
    pictures: 'drawings',
    qualities: [],
    settings: {
      'WebP, effort 1': webp({ lossless: true, effort: 1 }),
      'WebP, effort 0': webp({ lossless: true, effort: 0 }),
      'AVIF, effort 0': avif(0, 'iq', { lossless: true }),
      'AVIF, effort 1': avif(1, 'iq', { lossless: true }),
      'AVIF, effort 2': avif(2, 'iq', { lossless: true }),
      'JPEG XL, effort 1': jxl(1, true),
      'JPEG XL, effort 4': jxl(4, true),
      'JPEG XL, effort 5': jxl(5, true),
      'JPEG XL, effort 7': jxl(7, true),
      'PNG, level 4 with filters': (image) =>
        image.png({ compressionLevel: 4, adaptiveFiltering: true }).toBuffer(),
      'PNG, level 6': (image) => image.png().toBuffer(),
      'GIF, effort 3': (image) => image.gif({ effort: 3 }).toBuffer(),
      'GIF, effort 4': (image) => image.gif({ effort: 4 }).toBuffer(),
      'GIF, effort 7': (image) => image.gif({ effort: 7 }).toBuffer(),
    },
  },
];

/** Compares settings of the encoders with each other. */
export const settings: Scenario<EncodersBench> = {
  title: 'Settings of the encoders',
  method:
    'Bytes and CPU time of settings at the scores of the first ones of each group, interpolated for each picture, divided by those of the first ones: geometric means.',
  measures: {},
  async run(bench) {
    for (const group of groups) {
      for (const [side, pictures] of bench[group.pictures]) {
        if (pictures.length > 0) await compare(bench, group, side, pictures);
      }
    }
  },
};

async function compare(
  { results, meter }: EncodersBench,
  { title, qualities, settings }: Group,
  side: number,
  pictures: readonly Photograph[],
): Promise<void> {
  results.progress(`${title}, ${side} px`);
  const ratios = new Map(Object.keys(settings).map((name) => [name, [] as Ratio[]]));
  for (const picture of pictures) {
    let base: Point[] | null = null;
    for (const [name, encode] of Object.entries(settings)) {
      const curve: Point[] = [];
      for (const quality of qualities.length === 0 ? [100] : qualities) {
        curve.push(await measurePoint(encode, quality, picture, meter));
      }
      base ??= curve;
      ratios.get(name)?.push(...computeRatios(base, curve));
    }
  }
  const rows = [...ratios].map(([name, found]) => [
    name,
    `${geometricMean(found.map(({ bytes }) => bytes)).toFixed(3)} x`,
    `${geometricMean(found.map(({ ms }) => ms)).toFixed(2)} x`,
    String(found.length),
  ]);
  results.table({
    title: `${title}, ${side} px`,
    rows: [['', 'bytes', 'time', 'scores'], ...rows],
  });
}

interface Ratio {
  readonly bytes: number;
  readonly ms: number;
}

function computeRatios(base: readonly Point[], curve: readonly Point[]): Ratio[] {
  return base.flatMap((point) => {
    const same = curve.length === 1 ? curve[0] : pointAt(curve, point.score);
    return same ? [{ bytes: same.bytes / point.bytes, ms: same.ms / point.ms }] : [];
  });
}
