import { Latencies } from '../load/latencies.ts';
import { load, ofClass } from '../load/load.ts';
import {
  type Arrangement,
  arrangements,
  type BareJob,
  described,
  fastest,
  runBareSharp,
} from '../servers/bare-sharp.ts';
import { type EncodedFormat, encodedFormats, encoderOptions } from '../servers/encoder-settings.ts';
import { startIpx } from '../servers/ipx.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { fastestOf, leastImages, type Rendered, rendered, warmupOf } from './rendering.ts';
import { alternate, differences, figure, median, ratios, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality, type Source, urlOf } from './sources.ts';

type MissesBench = Bench<
  'of bare sharp' | 'of the fastest other' | 'time when idle' | 'processor time'
>;

const bareName = 'bare sharp';

interface Case {
  readonly of: string;
  readonly source: Source;
  readonly format: EncodedFormat;
}

export const misses = scenario({
  title: 'Misses at equal settings',
  about:
    'Images rendered per second, each from a source URL of its own, by closed loops, beside a loop of sharp without HTTP in the fastest arrangement of processes. All encode with the same options. Peers of the command line are measured as they are configured.',
  measures: {
    'of bare sharp': {
      what: 'misses per second, of the transforms of a bare loop of sharp',
      unit: '×',
      goal: { atLeast: 0.97 },
    },
    'of the fastest other': {
      what: 'misses per second, of those of the fastest other server',
      unit: '×',
      goal: { atLeast: 1 },
    },
    'processor time': {
      what: 'processor time of a miss, more than that of the bare loop',
      unit: 'ms',
    },
    'time when idle': {
      what: 'median time of a miss when idle, more than that of the bare loop',
      unit: 'ms',
      goal: { atMost: 5 },
    },
  },
  async run(bench) {
    const { photo, thumbnail, alpha } = bench.sources;
    const of = (source: Source, name: string, formats: readonly EncodedFormat[]): Case[] =>
      formats.map((format) => ({ of: `${name} as ${format.toUpperCase()}`, source, format }));
    const groups = [
      of(photo, 'photograph to 800 px', encodedFormats),
      of(thumbnail, 'photograph to 200 px', bench.quick ? ['jpeg'] : encodedFormats),
      of(alpha, 'PNG with alpha to 600 px', bench.quick ? ['webp'] : ['webp', 'avif']),
    ];
    const service = await bench.open(startService());
    let arrangement: Arrangement | null = null;
    for (const cases of groups) {
      const pixels = cases[0]?.source.pixels ?? 0;
      const ipx = bench.hasIpx ? [await bench.open(startIpx(pixels, quality))] : [];
      const others = [...ipx, ...bench.peers(pixels)];
      for (const one of cases) {
        // Once in a quick run.
        if (!bench.quick || arrangement === null) {
          const likely = arrangements(bench.cores).slice(0, bench.quick ? 2 : undefined);
          arrangement = await fastest(scanOf(bench, one), likely);
          bench.note(`${one.of}: bare sharp runs as ${described(arrangement)}.`);
        }
        await compare(bench, one, arrangement, service, others);
      }
      for (const other of others) await other.close();
    }
    const idle = (groups[0] ?? []).filter(({ format }) => !bench.quick || format === 'jpeg');
    for (const one of idle) await compareIdle(bench, one, service);
  },
});

function jobOf(
  { source: { file, width, pixels }, format }: Case,
  seconds: number,
  warmupS: number,
  atLeast = 0,
): BareJob {
  const options = encoderOptions(format, quality, pixels);
  return { file, width, format, seconds, warmupS, atLeast, options };
}

/** A short job, to find the fastest of several arrangements. */
const scanOf = ({ quick }: MissesBench, one: Case): BareJob => jobOf(one, quick ? 0.3 : 2, 0.1);

async function compare(
  bench: MissesBench,
  one: Case,
  arrangement: Arrangement,
  service: ImageServer,
  others: readonly ImageServer[],
): Promise<void> {
  const at = (server: ImageServer) => () =>
    rendered(bench, server, { url: urlOf(server, one.source, one.format), first: unused() });
  const job = jobOf(one, bench.seconds, warmupOf(bench), leastImages);
  const rounds = bench.quick && one.format !== 'jpeg' ? 1 : bench.rounds;
  const found = await alternate<Rendered>(rounds, {
    service: at(service),
    [bareName]: () => runBareSharp(job, arrangement),
    ...Object.fromEntries(others.map((other) => [other.name, at(other)])),
  });
  report(bench, one.of, found);
}

function report(bench: MissesBench, of: string, found: Record<string, Rendered[]>): void {
  const values = (name: string, key: keyof Rendered) => (found[name] ?? []).map((one) => one[key]);
  const rates = (name: string) => values(name, 'perSecond');
  const against = (name: string) =>
    `${spread(rates('service'))}/s, ${name} ${spread(rates(name))}/s`;
  bench.finding('of bare sharp', of, ratios(rates('service'), rates(bareName)), against(bareName));
  const others = Object.keys(found).filter((name) => name !== 'service' && name !== bareName);
  const best = fastestOf(new Map(others.map((name) => [name, rates(name)])));
  if (best !== undefined) {
    bench.finding('of the fastest other', of, ratios(rates('service'), rates(best)), against(best));
  }
  const [own, bare] = [values('service', 'processorMs'), values(bareName, 'processorMs')];
  const detail = `${spread(own)} ms, ${bareName} ${spread(bare)} ms`;
  bench.finding('processor time', of, differences(own, bare), detail);
  bench.table({
    title: of,
    rows: [
      ['', 'images/s', `of ${bareName}`, 'processor ms per image', 'bytes'],
      ...Object.keys(found).map((name) => [
        name,
        spread(rates(name)),
        spread(ratios(rates(name), rates(bareName))),
        spread(values(name, 'processorMs')),
        String(Math.round(median(values(name, 'bytes')))),
      ]),
    ],
  });
}

/** One request at a time. */
async function compareIdle(bench: MissesBench, one: Case, service: ImageServer): Promise<void> {
  const seconds = bench.quick ? 0.5 : 3;
  const alone = await fastest(
    scanOf(bench, one),
    [1, bench.cores].map((concurrency) => ({ processes: 1, inFlight: 1, concurrency })),
  );
  const medians = await alternate(bench.rounds, {
    service: async () => {
      const planned = {
        name: 'idle',
        url: urlOf(service, one.source, one.format),
        first: unused(),
        clients: 1,
      };
      const result = await load({ seconds, classes: [planned] });
      return Latencies.merged([ofClass(result, 'idle').latency.miss]).percentile(0.5);
    },
    sharp: async () => median((await runBareSharp(jobOf(one, seconds, 0.2), alone)).durationsMs),
  });
  const { service: own = [], sharp = [] } = medians;
  const detail = `${figure(median(own))} ms, ${bareName} ${figure(median(sharp))} ms`;
  bench.finding('time when idle', one.of, differences(own, sharp), detail);
}
