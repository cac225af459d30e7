import { Latencies } from '../load/latencies.ts';
import { load, ofClass } from '../load/load.ts';
import type { LoadResult, RequestSample } from '../load/plan.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { alternate, figure, median, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality, type Source } from './sources.ts';

type OverloadBench = Bench<'goodput' | 'refusals' | 'recovery' | 'hits'>;

const factors = [5, 10];
const hitRate = 100;
const hotUrls = 50;
const probeRate = 10;
/** A machine is at rest when this many probes one after the other have been answered as when idle. */
const calmProbes = 3;
/** A probe may take as many times the idle median. */
const calmFactor = 2;

export const overload = scenario({
  title: 'Overload',
  about:
    'Misses due by the clock at 5 and 10 times the capacity that a closed loop finds, and 100 hits per second beside them. Goodput is what arrived while the load lasted. Afterwards ten misses per second show when they take at most twice their idle time again.',
  measures: {
    goodput: {
      name: 'goodput',
      what: 'images per second under overload, of the peak',
      unit: '×',
      goal: { atLeast: 0.9 },
    },
    refusals: {
      name: 'p99 of refusals',
      what: 'p99 of refusals',
      unit: 'ms',
      goal: { atMost: 50 },
    },
    recovery: {
      name: 'recovery',
      what: 'time until misses are as fast as when idle',
      unit: 's',
      goal: { atMost: 2 },
    },
    hits: { name: 'p99 of hits', what: 'p99 of hits under overload', unit: 'ms', goal: null },
  },
  async run(bench) {
    const { photo, small } = bench.sources;
    const service = await bench.open(startService());
    const rows = [
      [
        '',
        'load',
        'goodput/s',
        'of peak',
        'refused',
        'refusals p99 ms',
        'hits p99 ms',
        'idle hits p99',
        'other',
        'recovery s',
      ],
    ];
    for (const server of [service, ...bench.peers(photo.pixels)]) {
      await warm(urlOf(server, small));
      const idle = await idleOf(bench, server);
      for (const factor of factors) {
        const rounds = await alternate(bench.quick ? 1 : bench.rounds, {
          [server.name]: () => overloaded(bench, server, factor * idle.peak, idle.missMs),
        });
        const results = rounds[server.name] ?? [];
        const of = (figureOf: (result: Overloaded) => number) => results.map(figureOf);
        const shares = of(({ goodput }) => goodput / idle.peak);
        rows.push([
          server.name,
          `${factor} x`,
          spread(of(({ goodput }) => goodput)),
          spread(shares),
          `${figure(100 * median(of(({ refusedShare }) => refusedShare)))} %`,
          spread(of(({ refusalsMs }) => refusalsMs)),
          spread(of(({ hitsMs }) => hitsMs)),
          figure(idle.hitMs),
          figure(median(of(({ failed }) => failed))),
          spread(of(({ recoveryS }) => recoveryS)),
        ]);
        if (server !== service) continue;
        const load = `${factor} times the capacity`;
        const rates = `${spread(of(({ goodput }) => goodput))}/s, peak ${figure(idle.peak)}/s`;
        bench.finding('goodput', load, shares, rates);
        bench.finding(
          'refusals',
          load,
          of(({ refusalsMs }) => refusalsMs),
          '',
        );
        bench.finding(
          'recovery',
          load,
          of(({ recoveryS }) => recoveryS),
          `idle ${figure(idle.missMs)} ms, observed for ${restS(bench)} s`,
        );
        bench.finding(
          'hits',
          load,
          of(({ hitsMs }) => hitsMs),
          `idle ${figure(idle.hitMs)} ms`,
        );
      }
    }
    bench.table({ title: 'Overload', rows });
  },
});

interface Idle {
  /** Images per second in a closed loop. */
  readonly peak: number;
  /** Median. */
  readonly missMs: number;
  /** p99. */
  readonly hitMs: number;
}

async function idleOf(bench: OverloadBench, server: ImageServer): Promise<Idle> {
  const { photo, small } = bench.sources;
  const seconds = bench.quick ? 1.5 : 2 * bench.seconds;
  const misses = (clients: number, more = {}) => ({
    name: 'misses',
    url: urlOf(server, photo),
    first: unused(),
    clients,
    ...more,
  });
  const alone = await load({ seconds, classes: [misses(1, { requests: 20 })] });
  const closed = await load({
    seconds: seconds + 0.5,
    warmupS: 0.5,
    classes: [misses(4 * bench.cores)],
  });
  const hits = await load({ seconds, classes: [hitsOf(urlOf(server, small))] });
  return {
    peak: ofClass(closed, 'misses').goodput,
    missMs: latency(alone, 'misses', 'miss').percentile(0.5),
    hitMs: latency(hits, 'hits', 'hit').percentile(0.99),
  };
}

/** How long the recovery is observed. */
const restS = ({ quick }: OverloadBench): number => (quick ? 2.5 : 8);

interface Overloaded {
  readonly goodput: number;
  readonly refusedShare: number;
  /** p99. */
  readonly refusalsMs: number;
  /** p99. */
  readonly hitsMs: number;
  readonly failed: number;
  readonly recoveryS: number;
}

async function overloaded(
  bench: OverloadBench,
  server: ImageServer,
  rate: number,
  idleMs: number,
): Promise<Overloaded> {
  const { photo, small } = bench.sources;
  const seconds = bench.quick ? 2 : 15;
  const url = urlOf(server, photo);
  const result = await load({
    seconds: seconds + restS(bench),
    drainS: 15,
    classes: [
      { name: 'misses', url, first: unused(), rate, untilS: seconds },
      { ...hitsOf(urlOf(server, small)), untilS: seconds },
      { name: 'probes', url, first: unused(), rate: probeRate, fromS: seconds, keepSamples: true },
    ],
  });
  const misses = ofClass(result, 'misses');
  const { hit, miss, refused, failed } = misses.counts;
  const inTime = misses.perSecond.slice(0, seconds).reduce((sum, count) => sum + count, 0);
  return {
    goodput: inTime / seconds,
    refusedShare: refused / (hit + miss + refused + failed),
    refusalsMs: latency(result, 'misses', 'refused').percentile(0.99),
    hitsMs: latency(result, 'hits', 'hit').percentile(0.99),
    failed,
    recoveryS: recovery(ofClass(result, 'probes').samples, seconds, calmFactor * idleMs),
  };
}

/**
 * Seconds from the end of the load to the first of several probes that were all answered in time; infinite
 * when there are none.
 */
export function recovery(
  probes: readonly RequestSample[],
  fromS: number,
  withinMs: number,
): number {
  const inOrder = [...probes].sort((a, b) => a.dueS - b.dueS);
  const calm = inOrder.map(({ outcome, latencyMs }) => outcome === 'miss' && latencyMs <= withinMs);
  const first = calm.findIndex(
    (_, index) =>
      index + calmProbes <= calm.length && calm.slice(index, index + calmProbes).every(Boolean),
  );
  return (inOrder[first]?.dueS ?? Number.POSITIVE_INFINITY) - fromS;
}

const urlOf = (server: ImageServer, { url, width }: Source): string =>
  server.imageUrl({ source: url, width, format: 'jpeg', quality });

const hitsOf = (url: string) => ({ name: 'hits', url, first: 0, count: hotUrls, rate: hitRate });

const latency = (
  result: LoadResult,
  name: string,
  outcome: 'hit' | 'miss' | 'refused',
): Latencies => Latencies.merged([ofClass(result, name).latency[outcome]]);

async function warm(url: string): Promise<void> {
  await load({
    seconds: 60,
    classes: [{ name: 'warm', url, first: 0, count: hotUrls, clients: 4, requests: hotUrls }],
  });
}
