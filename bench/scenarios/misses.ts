import { Latencies } from '../load/latencies.ts';
import { load, ofClass } from '../load/load.ts';
import {
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
import { alternate, figure, median, ratios, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality, type Source } from './sources.ts';

type MissesBench = Bench<'bare' | 'others' | 'idle'>;

interface Case {
  readonly of: string;
  readonly source: Source;
  readonly format: EncodedFormat;
}

export const misses = scenario({
  title: 'Misses at equal settings',
  about:
    'Images rendered per second, each from a source URL of its own, by closed loops that keep all servers busy, beside a loop of sharp without HTTP, in the arrangement of processes that is the fastest here. All encode with the same options. Peers of the command line are measured as they are configured.',
  measures: {
    bare: {
      what: 'misses per second, of the transforms of a bare loop of sharp',
      unit: '×',
      goal: { atLeast: 0.97 },
    },
    others: {
      what: 'misses per second, of those of the fastest other server',
      unit: '×',
      goal: { atLeast: 1 },
    },
    idle: {
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
      of(thumbnail, 'photograph to 200 px', encodedFormats),
      of(alpha, 'PNG with alpha to 600 px', ['webp', 'avif']),
    ];
    const service = await bench.open(startService());
    for (const cases of groups) {
      const pixels = cases[0]?.source.pixels ?? 0;
      const ipx = bench.hasIpx ? [await bench.open(startIpx(pixels, quality))] : [];
      const others = [...ipx, ...bench.peers(pixels)];
      for (const one of cases) await compare(bench, one, service, others);
      for (const other of others) await other.close();
    }
    for (const one of groups[0] ?? []) await compareIdle(bench, one, service);
  },
});

const jobOf = ({ source, format }: Case, seconds: number, warmupS: number): BareJob => ({
  ...{ file: source.file, width: source.width, format, seconds, warmupS },
  options: encoderOptions(format, quality, source.pixels),
});

const urlOf = ({ source, format }: Case, server: ImageServer): string =>
  server.imageUrl({ source: source.url, width: source.width, format, quality });

async function compare(
  bench: MissesBench,
  one: Case,
  service: ImageServer,
  others: readonly ImageServer[],
): Promise<void> {
  const { rounds, seconds, cores } = bench;
  const warmupS = Math.min(1, seconds / 4);
  const scan = jobOf(one, bench.quick ? 0.3 : 2, 0.1);
  const arrangement = await fastest(
    scan,
    arrangements(cores).slice(0, bench.quick ? 2 : undefined),
  );
  const bytes = new Map<string, number>();
  const at = (server: ImageServer) => async () => {
    const planned = {
      name: 'misses',
      url: urlOf(one, server),
      first: unused(),
      clients: 4 * cores,
    };
    const result = await load({ seconds: seconds + warmupS, warmupS, classes: [planned] });
    const { goodput, counts, meanBytes, answers } = ofClass(result, 'misses');
    if (counts.failed + counts.hit > 0)
      throw new Error(`${server.name}: ${JSON.stringify(answers)}`);
    bytes.set(server.name, meanBytes);
    return goodput;
  };
  const rates = await alternate(rounds, {
    service: at(service),
    'bare sharp': async () => {
      const result = await runBareSharp(jobOf(one, seconds, warmupS), arrangement);
      bytes.set('bare sharp', result.bytes);
      return result.perSecond;
    },
    ...Object.fromEntries(others.map((other) => [other.name, at(other)])),
  });
  const { service: own = [], 'bare sharp': bare = [] } = rates;
  bench.finding('bare', one.of, ratios(own, bare), `${spread(own)}/s, sharp ${spread(bare)}/s`);
  const best = others
    .map(({ name }) => ({ name, values: rates[name] ?? [] }))
    .sort((a, b) => median(b.values) - median(a.values))[0];
  if (best !== undefined) {
    const detail = `${spread(own)}/s, ${best.name} ${spread(best.values)}/s`;
    bench.finding('others', one.of, ratios(own, best.values), detail);
  }
  bench.table({
    title: `${one.of}; bare sharp: ${described(arrangement)}`,
    rows: [
      ['', 'images/s', 'of bare sharp', 'bytes'],
      ...Object.entries(rates).map(([name, values]) => [
        ...[name, spread(values), spread(ratios(values, bare))],
        String(Math.round(bytes.get(name) ?? 0)),
      ]),
    ],
  });
}

/** One after the other, so that nothing waits for anything but itself. */
async function compareIdle(bench: MissesBench, one: Case, service: ImageServer): Promise<void> {
  const seconds = bench.quick ? 0.8 : 3;
  const medians = await alternate(bench.rounds, {
    service: async () => {
      const planned = { name: 'idle', url: urlOf(one, service), first: unused(), clients: 1 };
      const result = await load({ seconds, classes: [planned] });
      return Latencies.merged([ofClass(result, 'idle').latency.miss]).percentile(0.5);
    },
    sharp: async () => {
      const alone = { processes: 1, inFlight: 1, concurrency: 1 };
      return median((await runBareSharp(jobOf(one, seconds, 0.2), alone)).durationsMs);
    },
  });
  const { service: own = [], sharp = [] } = medians;
  const differences = own.map((value, round) => value - (sharp[round] ?? Number.NaN));
  const detail = `${figure(median(own))} ms, sharp ${figure(median(sharp))} ms`;
  bench.finding('idle', one.of, differences, detail);
}
