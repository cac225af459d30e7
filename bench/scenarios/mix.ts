import { Latencies } from '../load/latencies.ts';
import { load, ofClass } from '../load/load.ts';
import type { ClassResult, LoadClass, Outcome } from '../load/plan.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { alternate, figure, ratios, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality } from './sources.ts';

type MixBench = Bench<'saturated' | 'hits' | 'misses'>;

const exponent = 0.9;
const cachedShare = 0.2;
const loads = [0.5, 0.8, 0.95, 1.2];
/** Files occupy whole blocks of a disk. */
const blockBytes = 4_096;
/** Requests per second for hits beside misses: few, so that only the misses keep the machine busy. */
const hitRate = 100;
const hotUrls = 50;

export const mix = scenario({
  title: 'Hits and misses mixed',
  about:
    'Requests in Zipf order (exponent 0.9) for many variants with caches for a fifth of them, due by the clock at shares of the capacity that a closed loop finds; and hits while misses keep every core busy. Latencies count from the due time, those of hits and misses apart.',
  measures: {
    saturated: {
      name: 'hits among misses',
      what: 'p99 of hits while misses saturate every core, of that when idle',
      unit: '×',
      goal: { atMost: 5 },
    },
    hits: { name: 'p99 of hits', what: 'p99 of hits in the mix', unit: 'ms', goal: null },
    misses: { name: 'p99 of misses', what: 'p99 of misses in the mix', unit: 'ms', goal: null },
  },
  async run(bench) {
    await saturate(bench);
    await mixed(bench);
  },
});

/** With the caches of a deployment, so that hits stay in memory whatever misses come. */
async function saturate(bench: MixBench): Promise<void> {
  const { small, photo } = bench.sources;
  const service = await bench.open(startService());
  const hot = urlOf(service, small);
  await warm(hot, hotUrls);
  const seconds = bench.quick ? 1.2 : 2 * bench.seconds;
  const hitsClass: LoadClass = { name: 'hits', url: hot, first: 0, count: hotUrls, rate: hitRate };
  const measure = (more: () => LoadClass[]) => async () => {
    const result = await load({
      seconds: seconds + 0.5,
      warmupS: 0.5,
      classes: [hitsClass, ...more()],
    });
    return Latencies.merged([ofClass(result, 'hits').latency.hit]).percentile(0.99);
  };
  const missUrl = urlOf(service, photo);
  const misses = () => [
    { name: 'misses', url: missUrl, first: unused(), clients: 4 * bench.cores },
  ];
  const { idle = [], saturated = [] } = await alternate(bench.rounds, {
    idle: measure(() => []),
    saturated: measure(misses),
  });
  const detail = `${spread(saturated)} ms, idle ${spread(idle)} ms`;
  bench.finding('saturated', `${hitRate} hits per second`, ratios(saturated, idle), detail);
  await service.close();
}

async function mixed(bench: MixBench): Promise<void> {
  const variants = bench.quick ? 500 : 10_000;
  const { small } = bench.sources;
  const bytes = await bench.sources.imageBytes(small, 'jpeg');
  const cached = variants * cachedShare;
  const disk = Math.ceil((bytes + 300) / blockBytes) * blockBytes * cached;
  const settings = {
    SERVICE_DISK_CACHE_BYTES: String(Math.round(disk)),
    SERVICE_MEMORY_CACHE_BYTES: String(Math.round((bytes * cached) / 4)),
  };
  const service = await bench.open(startService(settings));
  const servers = [service, ...bench.peers(small.pixels)];
  for (const server of servers) await warm(urlOf(server, small), cached);
  const seconds = bench.quick ? 1.5 : 2 * bench.seconds;
  const closed = classOf(service, bench, variants, { clients: 4 * bench.cores });
  const capacity = ofClass(
    await load({ seconds, seed: unused(), classes: [closed] }),
    'mix',
  ).goodput;
  bench.note(
    `Mix: ${variants} variants of ${bytes} bytes, disk cache for ${cached} of them, memory cache for ${cached / 4}; the service's capacity in a closed loop is ${figure(capacity)}/s, and all servers get the same load.`,
  );
  const rows = [
    ['', 'load', 'hits', 'p50 ms', 'p99', 'p99.9', 'misses', 'p50 ms', 'p99', 'p99.9', 'other'],
  ];
  const series = new Map<string, number[]>();
  for (const share of loads) {
    const at = (server: ImageServer) => async () => {
      // A seed of its own: the draws of an earlier round would be in the caches.
      const planned = classOf(server, bench, variants, { rate: share * capacity });
      return ofClass(await load({ seconds, seed: unused(), classes: [planned] }), 'mix');
    };
    const results = await alternate(
      bench.quick ? 1 : bench.rounds,
      Object.fromEntries(servers.map((server) => [server.name, at(server)])),
    );
    for (const [name, rounds] of Object.entries(results)) {
      const of = `${Math.round(100 * share)} % of capacity`;
      const [hits, misses] = [histogram(rounds, 'hit'), histogram(rounds, 'miss')];
      const other = rounds.reduce((sum, { counts }) => sum + counts.failed + counts.refused, 0);
      rows.push([name, of, ...cells(hits), ...cells(misses), String(other)]);
      for (const [kind, latencies] of [
        ['hits', hits],
        ['misses', misses],
      ] as const) {
        const key = `${name}: ${kind}, p99`;
        series.set(key, [...(series.get(key) ?? []), latencies.percentile(0.99)]);
      }
      if (name !== service.name) continue;
      bench.finding('hits', of, eachP99(rounds, 'hit'), `p50 ${figure(hits.percentile(0.5))} ms`);
      bench.finding(
        'misses',
        of,
        eachP99(rounds, 'miss'),
        `p50 ${figure(misses.percentile(0.5))} ms`,
      );
    }
  }
  bench.table({ title: 'Latencies of the mix', rows });
  const panel = (kind: string) => ({
    title: `p99 of ${kind}, ms`,
    series: [...series]
      .filter(([key]) => key.includes(`: ${kind},`))
      .map(([name, values]) => ({ name, values })),
  });
  bench.chart({
    name: 'mix',
    title: `Latencies of the mix, by share of the service's capacity of ${figure(capacity)}/s`,
    axis: {
      positions: loads,
      ticks: loads.map((at) => ({ at, label: `${Math.round(100 * at)} %` })),
    },
    panels: [panel('hits'), panel('misses')],
  });
}

const urlOf = (server: ImageServer, { url, width }: { url: string; width: number }): string =>
  server.imageUrl({ source: url, width, format: 'jpeg', quality });

function classOf<T extends { rate: number } | { clients: number }>(
  server: ImageServer,
  { sources }: MixBench,
  count: number,
  load: T,
) {
  return {
    name: 'mix',
    url: urlOf(server, sources.small),
    first: 0,
    count,
    zipf: exponent,
    ...load,
  };
}

/** Renders as many variants, from the most popular to the least. */
async function warm(url: string, count: number): Promise<void> {
  await load({
    seconds: 300,
    classes: [{ name: 'warm', url, first: 0, count, clients: 8, requests: count }],
  });
}

const histogram = (rounds: readonly ClassResult[], outcome: Outcome): Latencies =>
  Latencies.merged(rounds.map(({ latency }) => latency[outcome]));

const eachP99 = (rounds: readonly ClassResult[], outcome: Outcome): number[] =>
  rounds.map((round) => histogram([round], outcome).percentile(0.99));

const cells = (latencies: Latencies): string[] => [
  String(latencies.count),
  ...[0.5, 0.99, 0.999].map((share) => figure(latencies.percentile(share))),
];
