import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { loadOne } from '../load/load.ts';
import { type Meter, openMeter } from '../meter.ts';
import { alternateServers, type Measures, mean, median, spread, valuesOf } from '../report.ts';
import type { Scenario } from '../run.ts';
import { processorMs, withPeakMemory } from '../servers/launch.ts';
import type { BenchFormat, ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, requestedQuality, unusedNumber } from './bench.ts';

/** The box of the images, as imgproxy, imagor, thumbor and oximg publish them. */
const side = 512;
/** Longer sides of the sources, as oximg publishes them. */
const sourceSides = [768, 2000, 4000] as const;
const formats = ['jpeg', 'png', 'webp', 'avif'] as const satisfies readonly BenchFormat[];
/** The sources' own quality. */
const sourceQuality = 92;

const measures = {
  'of the fastest peer': {
    what: 'images per second, divided by those of the fastest peer',
    unit: '×',
  },
} as const satisfies Measures;

type PublishedBench = Bench<keyof typeof measures>;

/** A server's figures in a round. */
interface Round {
  readonly perSecond: number;
  /** Per image; NaN if the process is unknown. */
  readonly processorMs: number;
  readonly peakMiB: number;
}

interface Source {
  readonly file: Buffer;
  readonly width: number;
  readonly height: number;
  /** The image that servers should make of it. */
  open(): Sharp;
}

export const published: Scenario<Bench> = {
  title: 'Photographs as peers publish them',
  method: `The photographs of a folder, each once, fit into ${side} x ${side} px by two clients, at their own encoder settings and quality ${requestedQuality}: images per second, processor time, the highest memory, and the mean score beside a scaling of all pixels. The sources are JPEGs whose sides are multiples of 8, because scores of others depend on rounding.`,
  measures,
  async run(bench: PublishedBench) {
    const { opened, photographs, results, quick } = bench;
    if (photographs === null) throw new Error('It needs --photographs.');
    const files = await readPhotographs(photographs, results.progress);
    if (files.length === 0) throw new Error(`${photographs} has no photographs.`);
    const meter = await opened.open(openMeter(bench.ssimulacra2 ?? undefined));
    const service = await opened.open(deployService());
    const servers = [service, ...bench.peers];
    for (const sourceSide of quick ? sourceSides.slice(0, 1) : sourceSides) {
      const sources = await Promise.all(files.map((file) => createSource(file, sourceSide)));
      const origin = await serveBodies((target) => {
        const number = Number(/\bn=(\d+)$/.exec(target)?.[1]);
        return sourceAt(sources, number).file;
      });
      const url = `${origin.url}/photograph?n={n}`;
      for (const format of formats) {
        await compare(
          bench,
          `${sourceSide} px as ${format}`,
          { url, format, sources },
          servers,
          meter,
        );
      }
      await origin.close();
    }
  },
};

interface Case {
  /** Of the sources, with `{n}`. */
  readonly url: string;
  readonly format: BenchFormat;
  readonly sources: readonly Source[];
}

/** The source that the origin serves under a number. */
const sourceAt = (sources: readonly Source[], number: number): Source =>
  sources[number % sources.length] as Source;

async function compare(
  { rounds, results }: PublishedBench,
  caseName: string,
  testCase: Case,
  servers: readonly ImageServer[],
  meter: Meter,
): Promise<void> {
  const found = await alternateServers(rounds, servers, (server) => measure(server, testCase));
  const getValues = (name: string, key: keyof Round) => valuesOf(found, name, key);
  const rows: string[][] = [];
  for (const server of servers) {
    const { name } = server;
    const { score, bytes, scored } = await quality(server, testCase, meter);
    const { length } = testCase.sources;
    if (scored < length) {
      results.note(
        `${name}, ${caseName}: ${length - scored} of ${length} images have another size, and no score.`,
      );
    }
    rows.push([
      name,
      spread(getValues(name, 'perSecond')),
      spread(getValues(name, 'processorMs')),
      spread(getValues(name, 'peakMiB')),
      score.toFixed(meter.digits),
      String(Math.round(bytes)),
    ]);
  }
  const heads = ['', 'images/s', 'processor ms per image', 'peak MiB', meter.name, 'bytes'];
  results.table({ title: caseName, rows: [heads, ...rows] });
  const own = getValues('service', 'perSecond');
  const [fastest] = servers
    .slice(1)
    .map(({ name }) => ({ name, values: getValues(name, 'perSecond') }))
    .sort((a, b) => median(b.values) - median(a.values));
  if (fastest !== undefined) results.ratio('of the fastest peer', caseName, own, fastest, '/s');
}

const imageUrl = (server: ImageServer, { url, format }: Case): string =>
  server.imageUrl({
    source: url,
    width: side,
    height: side,
    format,
    pixels: side * side,
    quality: requestedQuality,
  });

/** Requests each photograph once, as sources that no request has named before. */
async function measure(server: ImageServer, testCase: Case): Promise<Round> {
  const { pid } = server;
  const { length } = testCase.sources;
  const planned = {
    url: imageUrl(server, testCase),
    first: unusedNumber(),
    clients: 2,
    requests: length,
  };
  const load = () => loadOne(planned, { seconds: 600 }, ['miss']);
  if (pid === null) {
    const { goodput } = await load();
    return { perSecond: goodput, processorMs: Number.NaN, peakMiB: Number.NaN };
  }
  const before = await processorMs(pid);
  const { result, peakMiB } = await withPeakMemory(pid, load);
  const used = (await processorMs(pid)) - before;
  return { perSecond: result.goodput, processorMs: used / length, peakMiB };
}

/**
 * Returns the mean score and bytes of a server's images; the score is NaN if no image has the
 * expected size.
 */
async function quality(server: ImageServer, testCase: Case, meter: Meter) {
  const scores: number[] = [];
  const bytes: number[] = [];
  const first = unusedNumber();
  for (let number = first; number < first + testCase.sources.length; number += 1) {
    const source = sourceAt(testCase.sources, number);
    const url = imageUrl(server, testCase).replaceAll('{n}', String(number));
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${server.name}: ${url}: status ${response.status}`);
    const body = Buffer.from(await response.arrayBuffer());
    bytes.push(body.length);
    const { width, height } = await sharp(body).metadata();
    const isExpected = width === source.width && height === source.height;
    if (isExpected) scores.push(await meter.score(source, body));
  }
  return { score: mean(scores), bytes: mean(bytes), scored: scores.length };
}

/** A source of a photograph, with this longer side. */
async function createSource(photograph: Buffer, longer: number): Promise<Source> {
  const { data, info } = await sharp(photograph)
    .autoOrient()
    .resize({ width: longer, height: longer, fit: 'inside' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [sourceWidth, sourceHeight] = [info.width & ~7, info.height & ~7];
  const file = await sharp(data, { raw: info })
    .extract({ left: 0, top: 0, width: sourceWidth, height: sourceHeight })
    .jpeg({ quality: sourceQuality })
    .toBuffer();
  const scaled = await sharp(file)
    .resize({ width: side, height: side, fit: 'inside', fastShrinkOnLoad: false })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = scaled.info;
  return { file, width, height, open: () => sharp(scaled.data, { raw: scaled.info }) };
}

/**
 * Returns a folder's decodable files by name. @param report called with a line per undecodable file
 */
export async function readPhotographs(
  folder: string,
  report: (text: string) => void,
): Promise<Buffer[]> {
  const files: Buffer[] = [];
  for (const name of (await readdir(folder)).sort()) {
    try {
      const file = await readFile(join(folder, name));
      await sharp(file).resize(16).raw().toBuffer();
      files.push(file);
    } catch (error) {
      report(`${name} is left out, it cannot be read: ${String(error).split('\n', 1)[0]}`);
    }
  }
  return files;
}
