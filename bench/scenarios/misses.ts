import { latencyOf } from '../load/latencies.ts';
import { loadOne } from '../load/load.ts';
import {
  type Arrangement,
  arrangements,
  type BareJob,
  description,
  fastest,
  runBareSharp,
} from '../servers/bare-sharp.ts';
import { type EncodedFormat, encodedFormats } from '../servers/encoder-settings.ts';
import { startIpx } from '../servers/ipx.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { comparePhotographs, makePhotographs, photographMeasures } from './photographs.ts';
import {
  bareName,
  fastestOf,
  jobOf,
  measureCase,
  type RenderedCase,
  type Rendering,
} from './rendering.ts';
import { alternate, differences, figure, median, ratios, spread } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf, requestedQuality, type SourcePicture } from './sources.ts';

const measures = {
  'of minimal': {
    what: 'misses per second, divided by those of a minimal server of the same packages',
    unit: '×',
    goal: { atLeast: 0.97 },
  },
  'of bare sharp': {
    what: 'misses per second, divided by the transforms per second of a bare loop of sharp',
    unit: '×',
  },
  'of the fastest other': {
    what: 'misses per second, divided by those of the fastest other server',
    unit: '×',
    goal: { atLeast: 1 },
  },
  ...photographMeasures,
  'processor time, of minimal': {
    what: 'processor time of a miss, divided by that of the minimal server',
    unit: '×',
  },
  'processor time': {
    what: 'processor time of a miss minus that of a transform of the bare loop',
    unit: 'ms',
  },
  'time when idle, of minimal': {
    what: 'median time of a miss when idle, divided by that of the minimal server',
    unit: '×',
  },
  'time when idle': {
    what: 'median time of a miss when idle minus that of a transform of the bare loop',
    unit: 'ms',
    goal: { atMost: 5 },
  },
} as const satisfies Measures;

type MissesBench = Bench<keyof typeof measures>;

export const misses: Scenario = {
  title: 'Misses at equal settings',
  method:
    'Images rendered per second, each from a source URL of its own, by closed loops, beside a server of the same packages in fifty lines, without checks, limits, caches in memory and metrics, and beside a loop of sharp without HTTP in the fastest arrangement of processes. All encode with the same options. Peers of the command line are measured as they are configured. Then photographs as cameras and phones write them, in short rounds: made of one sample, each with another profile, chroma, orientation, metadata, size, scale or format; a server whose image has another size is left out. HEIC is not among them, because sharp neither writes nor reads it.',
  measures,
  async run(bench) {
    const { photo, thumbnail, alpha } = bench.sources;
    const casesOf = (
      source: SourcePicture,
      what: string,
      formats: readonly EncodedFormat[],
    ): RenderedCase[] =>
      formats.map((format) => ({ name: `${what} as ${format.toUpperCase()}`, source, format }));
    const groups = [
      casesOf(photo, 'photograph to 800 px', encodedFormats),
      casesOf(thumbnail, 'photograph to 200 px', bench.quick ? ['jpeg'] : encodedFormats),
      casesOf(alpha, 'PNG with alpha to 600 px', bench.quick ? ['webp'] : ['webp', 'avif']),
    ];
    const service = await bench.open(deployService());
    let arrangement: Arrangement | null = null;
    const arrangementFor = async (one: RenderedCase): Promise<Arrangement> => {
      // A quick run does it once.
      if (bench.quick && arrangement !== null) return arrangement;
      const candidates = arrangements(bench.cores).slice(0, bench.quick ? 2 : undefined);
      arrangement = await fastest(shortJob(bench, one), candidates);
      bench.note(`${one.name}: bare sharp runs as ${description(arrangement)}.`);
      return arrangement;
    };
    for (const cases of groups) {
      const others = await othersOf(bench, cases[0]?.source.pixels ?? 0);
      for (const one of cases) {
        const rounds = bench.quick && one.format !== 'jpeg' ? 1 : bench.rounds;
        const servers = [service, ...others] as const;
        const bare = await arrangementFor(one);
        report(bench, one.name, await measureCase({ ...bench, rounds }, one, bare, servers));
      }
      for (const other of others) await other.close();
    }
    const photographs = await makePhotographs(bench);
    // Only the settings for WebP depend on the size.
    const others = await othersOf(bench, alpha.pixels);
    const bare = await arrangementFor({ name: 'photographs', source: photo, format: 'jpeg' });
    await comparePhotographs(bench, photographs, bare, [service, ...others]);
    for (const other of others) await other.close();
    const idle = (groups[0] ?? []).filter(({ format }) => !bench.quick || format === 'jpeg');
    const minimal = await minimalOf(bench, photo.pixels);
    for (const one of idle) await compareIdle(bench, one, [service, ...minimal]);
  },
};

async function othersOf(bench: MissesBench, pixels: number): Promise<ImageServer[]> {
  const ipx = bench.hasIpx ? [await bench.open(startIpx(pixels, requestedQuality))] : [];
  return [...(await minimalOf(bench, pixels)), ...ipx, ...bench.peers(pixels)];
}

const minimalOf = async (bench: MissesBench, pixels: number): Promise<ImageServer[]> =>
  hasMinimal ? [await bench.open(startMinimal(pixels, requestedQuality, bench.cores))] : [];

/** A short job, to find the fastest of several arrangements. */
const shortJob = ({ quick }: MissesBench, one: RenderedCase): BareJob =>
  jobOf(one, quick ? 0.3 : 2, 0.1);

/**
 * Reports one case.
 * @param found the figures of each round by the names of the servers, and of bare sharp
 */
export function report(
  bench: MissesBench,
  caseName: string,
  found: Readonly<Record<string, Rendering[]>>,
): void {
  const valuesOf = (name: string, key: keyof Rendering) =>
    (found[name] ?? []).map((one) => one[key]);
  const rates = (name: string) => valuesOf(name, 'perSecond');
  const times = (name: string) => valuesOf(name, 'processorMs');
  const compareRates = (measure: keyof typeof measures, name: string) =>
    bench.ratio(measure, caseName, rates('service'), { name, values: rates(name) }, '/s');
  if (hasMinimal) {
    compareRates('of minimal', minimalName);
    const theirs = { name: minimalName, values: times(minimalName) };
    bench.ratio('processor time, of minimal', caseName, times('service'), theirs, ' ms');
  }
  compareRates('of bare sharp', bareName);
  const yardsticks = ['service', minimalName, bareName];
  const others = Object.keys(found).filter((name) => !yardsticks.includes(name));
  const best = fastestOf(new Map(others.map((name) => [name, rates(name)])));
  if (best !== undefined) compareRates('of the fastest other', best);
  const [own, bare] = [times('service'), times(bareName)];
  const detail = `${spread(own)} ms, ${bareName} ${spread(bare)} ms`;
  bench.finding('processor time', caseName, differences(own, bare), detail);
  bench.table({
    title: caseName,
    rows: [
      [
        '',
        'images/s',
        `of ${minimalName}`,
        `of ${bareName}`,
        'processor ms per image',
        `of ${minimalName}`,
        'bytes',
      ],
      ...Object.keys(found).map((name) => [
        name,
        spread(rates(name)),
        spread(ratios(rates(name), rates(minimalName))),
        spread(ratios(rates(name), rates(bareName))),
        spread(times(name)),
        spread(ratios(times(name), times(minimalName))),
        String(Math.round(median(valuesOf(name, 'bytes')))),
      ]),
    ],
  });
}

/** One request at a time. */
async function compareIdle(
  bench: MissesBench,
  one: RenderedCase,
  servers: readonly ImageServer[],
): Promise<void> {
  const seconds = bench.quick ? 0.5 : 3;
  const alone = await fastest(
    shortJob(bench, one),
    [1, bench.cores].map((concurrency) => ({ processes: 1, inFlight: 1, concurrency })),
  );
  const at = (server: ImageServer) => async () => {
    const url = imageUrlOf(server, one.source, one.format);
    const planned = { name: 'idle', url, first: unusedNumber(), clients: 1 };
    return latencyOf([await loadOne(planned, { seconds })], 'miss', 0.5);
  };
  const contenders: Record<string, () => Promise<number>> = {
    [bareName]: async () =>
      median((await runBareSharp(jobOf(one, seconds, 0.2), alone)).durationsMs),
    ...Object.fromEntries(servers.map((server) => [server.name, at(server)])),
  };
  const found = await alternate(bench.rounds, contenders);
  const valuesOf = (name: string) => found[name] ?? [];
  const [own, bare] = [valuesOf('service'), valuesOf(bareName)];
  const detail = `${figure(median(own))} ms, ${bareName} ${figure(median(bare))} ms`;
  bench.finding('time when idle', one.name, differences(own, bare), detail);
  if (!hasMinimal) return;
  const theirs = { name: minimalName, values: valuesOf(minimalName) };
  bench.ratio('time when idle, of minimal', one.name, own, theirs, ' ms');
}
