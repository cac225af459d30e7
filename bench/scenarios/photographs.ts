import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type JpegOptions, type Sharp } from 'sharp';
import { matrixProfile } from '../../pool/formats/metadata/cicp.ts';
import { geometricMean } from '../encoders/measure.ts';
import { jpeg422, withExif } from '../origin/jpeg.ts';
import { picture } from '../origin/pictures.ts';
import type { Arrangement } from '../servers/bare-sharp.ts';
import type { EncodedFormat } from '../servers/encoder-settings.ts';
import { hasMinimal, minimalName } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { textTable } from '../text-table.ts';
import {
  bareName,
  fastestOf,
  measureCase,
  type RenderedCase,
  type Rendering,
} from './rendering.ts';
import { figure, median, ratios, spread } from './rounds.ts';
import { type Bench, type Measures, unusedNumber } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

export const photographMeasures = {
  'photograph, of the fastest other': {
    what: 'the same for one photograph as cameras and phones write them',
    unit: '×',
    goal: { atLeast: 0.9 },
  },
  'photographs, of the fastest other': {
    what: 'its geometric mean over these photographs',
    unit: '×',
    goal: { atLeast: 1 },
  },
  'photographs, of minimal': {
    what: 'misses per second of these photographs, divided by those of the minimal server: the geometric mean',
    unit: '×',
  },
} as const satisfies Measures;

type PhotographsBench = Bench<keyof typeof photographMeasures>;

/** Short, because there are many. */
const most = { rounds: 2, seconds: 2 } as const;

/** Of most rows; multiples of 16, as {@link jpeg422} needs. */
const size = { width: 2720, height: 2224 } as const;
const widthPx = 800;
const quality = 90;

/** One kind of photograph. */
interface Kind {
  readonly name: string;
  /** Of the images; 800 px by default. */
  readonly width?: number;
  /** Of the images; JPEG by default. */
  readonly format?: EncodedFormat;
  /** Whether it is part of a quick run. */
  readonly quick?: boolean;
  make(): Promise<Buffer>;
}

/** Adobe RGB (1998), whose gamma is 563/256. */
const adobeRgb = matrixProfile(
  {
    name: 'Compatible with Adobe RGB (1998)',
    colours: [
      [0.60974, 0.31111, 0.01947],
      [0.20528, 0.62567, 0.06087],
      [0.14919, 0.06322, 0.74457],
    ],
  },
  [563 / 256],
);

/** @param folder for a profile, which sharp reads from a file */
async function kindsOf(folder: string): Promise<Kind[]> {
  const landscape = await picture('landscape.jpg');
  const adobeRgbFile = join(folder, 'adobe-rgb.icc');
  await writeFile(adobeRgbFile, adobeRgb);
  const whole = () => sharp(landscape).extract({ left: 0, top: 0, ...size });
  const jpeg = (image: Sharp, options: JpegOptions = {}) =>
    image.jpeg({ quality, ...options }).toBuffer();
  const tagged = (profile: string) => () => jpeg(whole().withIccProfile(profile));
  /** Larger than the sample: repeated in mirrors, which keeps its detail per pixel. */
  const megapixels = (millions: number, width: number, height: number): Kind => ({
    name: `${millions} megapixels`,
    make: () => {
      const [right, bottom] = [width - size.width, height - size.height];
      return jpeg(
        right < 0
          ? whole().resize(width, height)
          : whole().extend({ right, bottom, extendWith: 'mirror' }),
      );
    },
  });
  const scale = (by: number): Kind => ({
    name: `scale ${by.toFixed(1)}`,
    width: Math.round(size.width / by),
    make: () => jpeg(whole()),
  });
  return [
    { name: 'no profile, 4:2:0, scale 3.4', make: () => jpeg(whole()) },
    { name: 'sRGB', make: tagged('srgb') },
    { name: 'Display P3', quick: true, make: tagged('p3') },
    { name: 'Adobe RGB', make: tagged(adobeRgbFile) },
    {
      name: '4:2:2',
      make: async () => jpeg422({ ...size, data: await whole().raw().toBuffer() }, quality),
    },
    { name: '4:4:4', make: () => jpeg(whole(), { chromaSubsampling: '4:4:4' }) },
    {
      name: 'progressive',
      make: () => jpeg(whole(), { progressive: true }),
    },
    {
      name: 'turned by EXIF',
      make: async () => {
        const onItsSide = sharp(await whole().raw().toBuffer(), { raw: { ...size, channels: 3 } });
        return withExif(await jpeg(onItsSide.rotate(270)), { orientation: 6 });
      },
    },
    {
      name: 'thumbnail, 64 KB of metadata',
      make: async () =>
        withExif(await jpeg(whole()), {
          thumbnail: await jpeg(whole().resize(160)),
          noteBytes: 55_000,
        }),
    },
    megapixels(2, 1632, 1224),
    megapixels(12, 4000, 3000),
    megapixels(48, 8000, 6000),
    scale(1.3),
    { ...scale(2), quick: true },
    scale(2.5),
    scale(5),
    scale(10),
    {
      name: 'PNG with alpha, as WebP',
      width: 600,
      format: 'webp',
      make: () => picture('lantern.png'),
    },
    { name: 'WebP', make: () => whole().webp({ quality }).toBuffer() },
    {
      name: 'AVIF',
      make: () => whole().avif({ quality: 65, effort: 1, chromaSubsampling: '4:2:0' }).toBuffer(),
    },
  ];
}

/** Makes the photographs, one for each row of the table. HEIC is left out: sharp writes and reads none. */
export async function makePhotographs({
  sources,
  quick,
}: Pick<Bench, 'sources' | 'quick'>): Promise<RenderedCase[]> {
  const folder = await temporaryFolder('photographs');
  try {
    const kinds = (await kindsOf(folder.path)).filter((kind) => !quick || kind.quick === true);
    const cases: RenderedCase[] = [];
    for (const [index, { name, width = widthPx, format = 'jpeg', make }] of kinds.entries()) {
      const source = await sources.add(`photograph-${index}`, await make(), width);
      cases.push({ name, format, source });
    }
    return cases;
  } finally {
    await folder.close();
  }
}

/** Measures the photographs beside the servers that deliver them upright. */
export async function comparePhotographs(
  bench: PhotographsBench,
  cases: readonly RenderedCase[],
  arrangement: Arrangement,
  [service, ...others]: readonly [ImageServer, ...ImageServer[]],
): Promise<void> {
  const short = {
    ...bench,
    rounds: Math.min(bench.rounds, bench.quick ? 1 : most.rounds),
    seconds: Math.min(bench.seconds, most.seconds),
  };
  const found = new Map<string, Record<string, Rendering[]>>();
  for (const one of cases) {
    const failure = await failureAt(service, one);
    if (failure !== null) throw new Error(`${service.name}: ${one.name}: ${failure}`);
    const measured: ImageServer[] = [];
    for (const other of others) {
      const reason = await failureAt(other, one);
      if (reason === null) measured.push(other);
      else bench.note(`${other.name} is not measured for ${one.name}: ${reason}.`);
    }
    found.set(one.name, await measureCase(short, one, arrangement, [service, ...measured]));
    bench.progress(`${one.name}: measured`);
  }
  reportPhotographs(bench, found);
}

/** Why a server's image is not the expected one; null if it is. */
async function failureAt(
  server: ImageServer,
  { source, format }: RenderedCase,
): Promise<string | null> {
  const url = imageUrlOf(server, source, format).replaceAll('{n}', String(unusedNumber()));
  const response = await fetch(url);
  const body = await response.arrayBuffer();
  if (!response.ok) return `its status is ${response.status}`;
  const { width, height } = await sharp(body).metadata();
  // Servers round the height in different ways.
  const isExpected = width === source.width && Math.abs(height - source.pixels / source.width) <= 1;
  return isExpected ? null : `its image has ${width} x ${height} px`;
}

/** @param found the figures of each round by the names of the servers, and of bare sharp, by photograph */
export function reportPhotographs(
  bench: PhotographsBench,
  found: ReadonlyMap<string, Readonly<Record<string, Rendering[]>>>,
): void {
  const yardsticks = [bareName, ...(hasMinimal ? [minimalName] : [])];
  const names = [...new Set([...found.values()].flatMap(Object.keys))];
  const others = names.filter((name) => ![...yardsticks, 'service'].includes(name));
  const columns = ['service', ...yardsticks, ...others];
  const rows = [
    [
      '',
      ...columns,
      ...yardsticks.map((name) => `of ${name}`),
      'of the fastest other',
      'processor ms per image',
      `of ${minimalName}`,
    ],
  ];
  const ofMinimal: number[][] = [];
  const ofFastest: number[][] = [];
  for (const [name, servers] of found) {
    const rates = (of: string) => (servers[of] ?? []).map(({ perSecond }) => perSecond);
    const times = (of: string) => (servers[of] ?? []).map(({ processorMs }) => processorMs);
    const against = (of: string) => ratios(rates('service'), rates(of));
    const fastest = fastestOf(new Map(others.map((other) => [other, rates(other)])));
    if (fastest !== undefined) {
      ofFastest.push(against(fastest));
      const values = rates(fastest);
      const measure = 'photograph, of the fastest other';
      bench.ratio(measure, name, rates('service'), { name: fastest, values }, '/s');
    }
    ofMinimal.push(against(minimalName));
    rows.push([
      name,
      ...columns.map((column) => figure(median(rates(column)))),
      ...yardsticks.map((yardstick) => figure(median(against(yardstick)))),
      fastest === undefined ? '-' : spread(against(fastest)),
      figure(median(times('service'))),
      figure(median(ratios(times('service'), times(minimalName)))),
    ]);
  }
  bench.table({ title: 'Photographs as they come, images/s', rows });
  bench.progress(`Photographs as they come, images/s
${textTable(rows)}`);
  const mean = (measure: keyof typeof photographMeasures, byCase: readonly number[][]) => {
    if (byCase.length === 0) return;
    const values = (byCase[0] ?? []).map((_, round) =>
      geometricMean(byCase.map((one) => one[round] ?? Number.NaN)),
    );
    bench.finding(measure, `geometric mean of ${byCase.length}`, values, '');
  };
  if (hasMinimal) mean('photographs, of minimal', ofMinimal);
  mean('photographs, of the fastest other', ofFastest);
}
