import { latencyOf } from '../load/latencies.ts';
import { load, loadOne, requestOnce, resultOf } from '../load/load.ts';
import type { ClassResult, LoadClass, Outcome } from '../load/plan.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { alternate, figure } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

const measures = {
  'hits among misses': {
    what: 'p99 of hits while misses use all cores, divided by that when idle',
    unit: '×',
    goal: { atMost: 5 },
  },
  'p99 of hits': { what: 'p99 of hits in the mix', unit: 'ms' },
  'p99 of misses': { what: 'p99 of misses in the mix', unit: 'ms' },
} as const satisfies Measures;

type MixBench = Bench<keyof typeof measures>;

const exponent = 0.9;
const cachedShare = 0.2;
const loads = [0.5, 0.8, 0.95, 1.2];
/** Files occupy whole blocks of a disk. */
const blockBytes = 4_096;
/** Requests per second for hits beside misses: few, so that only the misses use the processors. */
const hitRate = 100;
const hotUrls = 50;

export const mix: Scenario = {
  title: 'Hits and misses mixed',
  method:
    'Requests in Zipf order (exponent 0.9) for many variants, with caches for a fifth of them, in an open loop at shares of the capacity that a closed loop finds; and hits while misses use all cores. Latencies count from the due time, those of hits and misses apart.',
  measures,
  async run(bench) {
    await hitsAmongMisses(bench);
    await mixed(bench);
  },
};

/** With the default caches, so that hits stay in memory. */
async function hitsAmongMisses(bench: MixBench): Promise<void> {
  const { small, photo } = bench.sources;
  const service = await bench.open(deployService());
  const [hot, missUrl] = [imageUrlOf(service, small), imageUrlOf(service, photo)];
  await requestOnce(hot, hotUrls);
  const seconds = (bench.quick ? 1.2 : 2 * bench.seconds) + 0.5;
  const hits = { name: 'hits', url: hot, first: 0, count: hotUrls, rate: hitRate };
  const measure = (misses: () => LoadClass[]) => async () => {
    const result = await load({ seconds, warmupS: 0.5, classes: [hits, ...misses()] });
    return latencyOf([resultOf(result, 'hits')], 'hit', 0.99);
  };
  const { idle, saturated } = await alternate(bench.rounds, {
    idle: measure(() => []),
    saturated: measure(() => [
      { name: 'misses', url: missUrl, first: unusedNumber(), clients: 4 * bench.cores },
    ]),
  });
  const caseName = `${hitRate} hits per second`;
  bench.ratio('hits among misses', caseName, saturated, { name: 'idle', values: idle }, ' ms');
  await service.close();
}

async function mixed(bench: MixBench): Promise<void> {
  const count = bench.quick ? 500 : 10_000;
  const { small } = bench.sources;
  const bytes = await bench.sources.imageBytes(small, 'jpeg');
  const cached = count * cachedShare;
  const disk = Math.ceil((bytes + 300) / blockBytes) * blockBytes * cached;
  const service = await bench.open(
    deployService({
      SERVICE_DISK_CACHE_BYTES: String(Math.round(disk)),
      SERVICE_MEMORY_CACHE_BYTES: String(Math.round((bytes * cached) / 4)),
    }),
  );
  const servers = [service, ...bench.peers(small.pixels)];
  for (const server of servers) await requestOnce(imageUrlOf(server, small), cached);
  const seconds = bench.quick ? 1.5 : 2 * bench.seconds;
  const run = (server: ImageServer, rate: { rate: number } | { clients: number }) => {
    const planned = {
      name: 'mix',
      url: imageUrlOf(server, small),
      first: 0,
      count,
      zipf: exponent,
    };
    // A new seed: the draws of an earlier round would be in the caches.
    return loadOne({ ...planned, ...rate }, { seconds, seed: unusedNumber() });
  };
  const capacity = (await run(service, { clients: 4 * bench.cores })).goodput;
  bench.note(
    `Mix: ${count} variants of ${bytes} bytes, disk cache for ${cached} of them, memory cache for ${cached / 4}; the service's capacity in a closed loop is ${figure(capacity)}/s, and all servers get the same load.`,
  );
  const rows = [
    ['', 'load', 'hits', 'p50 ms', 'p99', 'p99.9', 'misses', 'p50 ms', 'p99', 'p99.9', 'other'],
  ];
  const points = servers.map(() => ({ hit: [] as Point[], miss: [] as Point[] }));
  for (const share of loads) {
    const caseName = `${Math.round(100 * share)} % of capacity`;
    const contenders = servers.map(
      (server) => [server.name, () => run(server, { rate: share * capacity })] as const,
    );
    const rounds = bench.quick ? 1 : bench.rounds;
    const results = Object.values(await alternate(rounds, Object.fromEntries(contenders)));
    for (const [index, found] of results.entries()) {
      const other = found.reduce((sum, { counts }) => sum + counts.failed + counts.refused, 0);
      const name = servers[index]?.name ?? '';
      rows.push([name, caseName, ...cells(found, 'hit'), ...cells(found, 'miss'), String(other)]);
      for (const outcome of ['hit', 'miss'] as const) {
        points[index]?.[outcome].push([share, latencyOf(found, outcome, 0.99)]);
        if (index > 0) continue;
        const each = found.map((round) => latencyOf([round], outcome, 0.99));
        const detail = `p50 ${figure(latencyOf(found, outcome, 0.5))} ms`;
        bench.finding(outcome === 'hit' ? 'p99 of hits' : 'p99 of misses', caseName, each, detail);
      }
    }
  }
  bench.table({ title: 'Latencies of the mix', rows });
  const panel = (title: string, outcome: 'hit' | 'miss') => ({
    title,
    series: servers.map(({ name }, index) => ({ name, points: points[index]?.[outcome] ?? [] })),
  });
  bench.chart({
    name: 'mix',
    title: `Latencies of the mix, by share of the service's capacity of ${figure(capacity)}/s`,
    ticks: loads.map((at) => ({ at, label: `${Math.round(100 * at)} %` })),
    panels: [panel('p99 of hits, ms', 'hit'), panel('p99 of misses, ms', 'miss')],
  });
}

type Point = readonly [x: number, y: number];

/** The number of responses, and percentiles of their latency. */
function cells(rounds: readonly ClassResult[], outcome: Outcome): string[] {
  const count = rounds.reduce((sum, { counts }) => sum + counts[outcome], 0);
  const percentiles = [0.5, 0.99, 0.999].map((share) => figure(latencyOf(rounds, outcome, share)));
  return [String(count), ...percentiles];
}
