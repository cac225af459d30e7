import { load, loadOne, requestEach } from '../load/load.ts';
import { type ClassResult, latencyPercentile, type Outcome } from '../load/results.ts';
import { alternate, alternateServers, figure, type Measures } from '../report.ts';
import type { Scenario } from '../run.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, toImageUrl, unusedNumber } from './bench.ts';

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
/** Hits per second during misses: so few that only the misses load the processors. */
const hitRate = 100;
const hotUrls = 50;

export const mix: Scenario<Bench> = {
  title: 'Hits and misses mixed',
  method:
    'Requests in Zipf order (exponent 0.9) for many variants, with caches for a fifth of them, in an open loop at shares of the capacity that a closed loop finds; and hits while misses use all cores. Latencies count from the due time, those of hits and misses apart.',
  measures,
  async run(bench: MixBench) {
    await hitsAmongMisses(bench);
    await mixed(bench);
  },
};

/** With the default caches, so that hits stay in memory. */
async function hitsAmongMisses({ opened, results, sources, ...bench }: MixBench): Promise<void> {
  const service = await opened.open(deployService());
  const url = toImageUrl(service, sources.small);
  await requestEach(url, hotUrls);
  const plan = { seconds: (bench.quick ? 1.2 : 2 * bench.seconds) + 0.5, warmupS: 0.5 };
  const hits = { url, first: 0, count: hotUrls, rate: hitRate };
  const p99 = (result: ClassResult) => latencyPercentile([result], 'hit', 0.99);
  const { idle, saturated } = await alternate(bench.rounds, {
    idle: async () => p99(await loadOne(hits, plan)),
    saturated: async () => {
      const missUrl = toImageUrl(service, sources.photo);
      const misses = { url: missUrl, first: unusedNumber(), clients: 4 * bench.cores };
      return p99((await load({ ...plan, classes: [hits, misses] }))[0]);
    },
  });
  const caseName = `${hitRate} hits per second`;
  results.ratio('hits among misses', caseName, saturated, { name: 'idle', values: idle }, ' ms');
  await service.close();
}

async function mixed({ opened, results, sources, ...bench }: MixBench): Promise<void> {
  const count = bench.quick ? 500 : 10_000;
  const bytes = await sources.imageBytes(sources.small);
  const cached = count * cachedShare;
  const disk = Math.ceil((bytes + 300) / blockBytes) * blockBytes * cached;
  const service = await opened.open(
    deployService({
      SERVICE_DISK_CACHE_BYTES: String(Math.round(disk)),
      SERVICE_MEMORY_CACHE_BYTES: String(Math.round((bytes * cached) / 4)),
    }),
  );
  const servers = [service, ...bench.peers];
  for (const server of servers) await requestEach(toImageUrl(server, sources.small), cached);
  const run = (server: ImageServer, pace: { rate: number } | { clients: number }) => {
    const planned = { url: toImageUrl(server, sources.small), first: 0, count, zipf: exponent };
    // A new seed: the draws of an earlier round would be in the caches.
    const plan = { seconds: bench.quick ? 1.5 : 2 * bench.seconds, seed: unusedNumber() };
    return loadOne({ ...planned, ...pace }, plan);
  };
  const capacity = (await run(service, { clients: 4 * bench.cores })).goodput;
  results.note(
    `Mix: ${count} variants of ${bytes} bytes, disk cache for ${cached} of them, memory cache for ${cached / 4}; the service's capacity in a closed loop is ${figure(capacity)}/s, and all servers get the same load.`,
  );
  const rows = [
    ['', 'load', 'hits', 'p50 ms', 'p99', 'p99.9', 'misses', 'p50 ms', 'p99', 'p99.9', 'other'],
  ];
  for (const share of loads) {
    const caseName = `${Math.round(100 * share)} % of capacity`;
    const rounds = bench.quick ? 1 : bench.rounds;
    const all = await alternateServers(rounds, servers, (server) =>
      run(server, { rate: share * capacity }),
    );
    for (const [name, found] of Object.entries(all)) {
      const other = countOutcome(found, 'failed') + countOutcome(found, 'refused');
      rows.push([name, caseName, ...cells(found, 'hit'), ...cells(found, 'miss'), String(other)]);
    }
    const own = all[service.name] ?? [];
    for (const outcome of ['hit', 'miss'] as const) {
      const values = own.map((round) => latencyPercentile([round], outcome, 0.99));
      const detail = `p50 ${figure(latencyPercentile(own, outcome, 0.5))} ms`;
      results.finding(
        outcome === 'hit' ? 'p99 of hits' : 'p99 of misses',
        caseName,
        values,
        detail,
      );
    }
  }
  results.table({ title: 'Latencies of the mix', rows });
}

const countOutcome = (rounds: readonly ClassResult[], outcome: Outcome): number =>
  rounds.reduce((sum, { counts }) => sum + counts[outcome], 0);

/** The number of responses, and percentiles of their latency. */
const cells = (rounds: readonly ClassResult[], outcome: Outcome): string[] => [
  String(countOutcome(rounds, outcome)),
  ...[0.5, 0.99, 0.999].map((share) => figure(latencyPercentile(rounds, outcome, share))),
];
