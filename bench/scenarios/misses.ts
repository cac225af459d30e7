import { loadOne } from '../load/load.ts';
import { latencyPercentile } from '../load/results.ts';
import { alternate, type Measures } from '../report.ts';
import type { Scenario } from '../run.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import { type EncodedFormat, encodedFormats, type ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, type SourcePicture, toImageUrl, unusedNumber } from './bench.ts';
import {
  comparePhotographs,
  makeCases,
  measureCase,
  photographMeasures,
  type RenderedCase,
  reportCase,
} from './rendering.ts';

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
    'Images rendered per second, each from a source URL of its own, by closed loops, beside a server of the same packages in fifty lines, without checks, limits, caches in memory and metrics. Both encode with the same options and threads. Each server first renders 500 thumbnails, because V8 optimises code during the first images. Peers of the command line are measured as they are configured. Then photographs as cameras and phones write them, in short rounds: made of one sample, each with another profile, chroma, orientation, metadata, size, scale or format; a server whose image has another size is left out. HEIC is not among them, because sharp neither writes nor reads it.',
  measures,
  async run(bench: MissesBench) {
    const { photo, thumbnail, alpha } = bench.sources;
    const createCases = (
      source: SourcePicture,
      what: string,
      formats: readonly EncodedFormat[],
    ): RenderedCase[] =>
      formats.map((format) => ({ name: `${what} as ${format.toUpperCase()}`, source, format }));
    const ofPhoto = createCases(photo, 'photograph to 800 px', encodedFormats);
    const cases = [
      ...ofPhoto,
      ...createCases(thumbnail, 'photograph to 200 px', bench.quick ? ['jpeg'] : encodedFormats),
      ...createCases(alpha, 'PNG with alpha to 600 px', bench.quick ? ['webp'] : ['webp', 'avif']),
    ];
    const service = await bench.opened.open(deployService());
    const minimal = hasMinimal ? [await bench.opened.open(startMinimal(bench.cores))] : [];
    const servers = [service, ...minimal, ...bench.peers] as const;
    await warmUp(bench, servers);
    for (const renderedCase of cases) {
      const rounds = bench.quick && renderedCase.format !== 'jpeg' ? 1 : bench.rounds;
      reportCase(
        bench.results,
        '',
        renderedCase.name,
        await measureCase({ ...bench, rounds }, renderedCase, servers),
      );
    }
    await comparePhotographs(bench, await makeCases(bench), servers);
    for (const renderedCase of ofPhoto.filter(({ format }) => !bench.quick || format === 'jpeg')) {
      for (const other of minimal) await compareIdle(bench, renderedCase, service, other);
    }
  },
};

/** V8 optimises what a server runs during its first images, which takes 1 ms of each. */
const warmUpImages = 500;

/** Renders thumbnails on each server, because servers run for long. */
export async function warmUp(
  { sources, cores }: Pick<Bench, 'sources' | 'cores'>,
  servers: readonly ImageServer[],
): Promise<void> {
  for (const server of servers) {
    const url = toImageUrl(server, sources.thumbnail);
    const clients = 2 * cores;
    const planned = { url, first: unusedNumber(), clients, requests: warmUpImages };
    await loadOne(planned, { seconds: 300 }, ['miss']);
  }
}

/** One request at a time. */
async function compareIdle(
  { quick, rounds, results }: MissesBench,
  renderedCase: RenderedCase,
  service: ImageServer,
  minimal: ImageServer,
): Promise<void> {
  const seconds = quick ? 0.5 : 3;
  const at = (server: ImageServer) => async () => {
    const url = toImageUrl(server, renderedCase.source, renderedCase.format);
    const planned = { url, first: unusedNumber(), clients: 1 };
    return latencyPercentile([await loadOne(planned, { seconds })], 'miss', 0.5);
  };
  const { own, other } = await alternate(rounds, { own: at(service), other: at(minimal) });
  const theirs = { name: minimalName, values: other };
  results.ratio('time when idle, of minimal', renderedCase.name, own, theirs, ' ms');
}
