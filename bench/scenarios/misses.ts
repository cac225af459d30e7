import { loadOne } from '../load/load.ts';
import { latencyOf } from '../load/results.ts';
import type { Measures } from '../report.ts';
import { alternate, median, ratios, spread } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import { type EncodedFormat, encodedFormats } from '../servers/encoder-settings.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, unusedNumber } from './bench.ts';
import { comparePhotographs, makeCases, photographMeasures } from './photographs.ts';
import {
  bareName,
  fastestOf,
  measureCase,
  type RenderedCase,
  type Rendering,
} from './rendering.ts';
import { imageUrlOf, type SourcePicture } from './sources.ts';

const measures = {
  'of minimal': {
    what: 'misses per second, divided by those of a minimal server of the same packages',
    unit: '×',
    goal: { atLeast: 0.97 },
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
  'time when idle, of minimal': {
    what: 'median time of a miss when idle, divided by that of the minimal server',
    unit: '×',
  },
} as const satisfies Measures;

type MissesBench = Bench<keyof typeof measures>;

export const misses: Scenario<Bench> = {
  title: 'Misses at equal settings',
  method:
    'Images rendered per second, each from a source URL of its own, by closed loops, beside a server of the same packages in fifty lines, without checks, limits, caches in memory and metrics, and beside a loop of sharp without HTTP, with as many transforms at a time as there are cores. All encode with the same options and threads. Peers of the command line are measured as they are configured. Then photographs as cameras and phones write them, in short rounds: made of one sample, each with another profile, chroma, orientation, metadata, size, scale or format; a server whose image has another size is left out. HEIC is not among them, because sharp neither writes nor reads it.',
  measures,
  async run(bench: MissesBench) {
    const { photo, thumbnail, alpha } = bench.sources;
    const casesOf = (
      source: SourcePicture,
      what: string,
      formats: readonly EncodedFormat[],
    ): RenderedCase[] =>
      formats.map((format) => ({ name: `${what} as ${format.toUpperCase()}`, source, format }));
    const ofPhoto = casesOf(photo, 'photograph to 800 px', encodedFormats);
    const cases = [
      ...ofPhoto,
      ...casesOf(thumbnail, 'photograph to 200 px', bench.quick ? ['jpeg'] : encodedFormats),
      ...casesOf(alpha, 'PNG with alpha to 600 px', bench.quick ? ['webp'] : ['webp', 'avif']),
    ];
    const service = await bench.opened.open(deployService());
    const minimal = hasMinimal ? [await bench.opened.open(startMinimal(bench.cores))] : [];
    const servers = [service, ...minimal, ...bench.peers] as const;
    for (const one of cases) {
      const rounds = bench.quick && one.format !== 'jpeg' ? 1 : bench.rounds;
      report(bench, one.name, await measureCase({ ...bench, rounds }, one, servers));
    }
    await comparePhotographs(bench, await makeCases(bench), servers);
    for (const one of ofPhoto.filter(({ format }) => !bench.quick || format === 'jpeg')) {
      for (const other of minimal) await compareIdle(bench, one, service, other);
    }
  },
};

/**
 * Reports one case.
 * @param found the figures of each round by the names of the servers, and of bare sharp
 */
export function report(
  { results }: Pick<MissesBench, 'results'>,
  caseName: string,
  found: Readonly<Record<string, Rendering[]>>,
): void {
  const valuesOf = (name: string, key: keyof Rendering) =>
    (found[name] ?? []).map((one) => one[key]);
  const rates = (name: string) => valuesOf(name, 'perSecond');
  const times = (name: string) => valuesOf(name, 'processorMs');
  const compareRates = (measure: keyof typeof measures, name: string) =>
    results.ratio(measure, caseName, rates('service'), { name, values: rates(name) }, '/s');
  if (hasMinimal) {
    compareRates('of minimal', minimalName);
    const theirs = { name: minimalName, values: times(minimalName) };
    results.ratio('processor time, of minimal', caseName, times('service'), theirs, ' ms');
  }
  const yardsticks = ['service', minimalName, bareName];
  const others = Object.keys(found).filter((name) => !yardsticks.includes(name));
  const best = fastestOf(new Map(others.map((name) => [name, rates(name)])));
  if (best !== undefined) compareRates('of the fastest other', best);
  results.table({
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
  { quick, rounds, results }: MissesBench,
  one: RenderedCase,
  service: ImageServer,
  minimal: ImageServer,
): Promise<void> {
  const seconds = quick ? 0.5 : 3;
  const at = (server: ImageServer) => async () => {
    const url = imageUrlOf(server, one.source, one.format);
    const planned = { url, first: unusedNumber(), clients: 1 };
    return latencyOf([await loadOne(planned, { seconds })], 'miss', 0.5);
  };
  const { own, other } = await alternate(rounds, { own: at(service), other: at(minimal) });
  const theirs = { name: minimalName, values: other };
  results.ratio('time when idle, of minimal', one.name, own, theirs, ' ms');
}
