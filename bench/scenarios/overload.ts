import { Latencies } from '../load/latencies.ts';
import { load, ofClass, warm } from '../load/load.ts';
import type { LoadResult, Outcome, RequestSample } from '../load/plan.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { alternate, figure, median, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { urlOf } from './sources.ts';

type OverloadBench = Bench<'goodput' | 'p99 of refusals' | 'recovery' | 'p99 of hits'>;

const factors = [5, 10];
const hotUrls = 50;
const hits = { name: 'hits', first: 0, count: hotUrls, rate: 100 };
const probeRate = 10;
/** The recovery ends with this many consecutive probes that take at most `calmFactor` times the idle time. */
const calmProbes = 3;
const calmFactor = 2;

const heads = [
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
];

export const overload = scenario({
  title: 'Overload',
  about:
    'Misses due by the clock at 5 and 10 times the capacity that a closed loop finds, and 100 hits per second beside them. Goodput is the images that arrive during the load. Afterwards ten misses per second show when they take at most twice their idle time again.',
  measures: {
    goodput: {
      what: 'images per second under overload, of the peak',
      unit: '×',
      goal: { atLeast: 0.9 },
    },
    'p99 of refusals': { what: 'p99 of refusals', unit: 'ms', goal: { atMost: 50 } },
    recovery: {
      what: 'time until misses are as fast as when idle',
      unit: 's',
      goal: { atMost: 2 },
    },
    'p99 of hits': { what: 'p99 of hits under overload', unit: 'ms' },
  },
  async run(bench) {
    const rows = [heads];
    const service = await bench.open(startService());
    for (const server of [service, ...bench.peers(bench.sources.photo.pixels)]) {
      await warm(urlOf(server, bench.sources.small), hotUrls);
      const idle = await idleOf(bench, server);
      for (const factor of factors) {
        const { results = [] } = await alternate(bench.quick ? 1 : bench.rounds, {
          results: () => overloaded(bench, server, factor * idle.peak, idle.missMs),
        });
        const of = (key: keyof Overloaded) => results.map((result) => result[key]);
        const shares = of('goodput').map((goodput) => goodput / idle.peak);
        rows.push([
          server.name,
          `${factor} x`,
          spread(of('goodput')),
          spread(shares),
          `${figure(100 * median(of('refusedShare')))} %`,
          spread(of('refusalsMs')),
          spread(of('hitsMs')),
          figure(idle.hitMs),
          figure(median(of('failed'))),
          spread(of('recoveryS')),
        ]);
        if (server !== service) continue;
        const load = `${factor} times the capacity`;
        const rates = `${spread(of('goodput'))}/s, peak ${figure(idle.peak)}/s`;
        bench.finding('goodput', load, shares, rates);
        bench.finding('p99 of refusals', load, of('refusalsMs'), '');
        const observed = `idle ${figure(idle.missMs)} ms, observed for ${restS(bench)} s`;
        bench.finding('recovery', load, of('recoveryS'), observed);
        bench.finding('p99 of hits', load, of('hitsMs'), `idle ${figure(idle.hitMs)} ms`);
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
  const misses = () => ({ name: 'misses', url: urlOf(server, photo), first: unused() });
  const one = { ...misses(), clients: 1, requests: 20 };
  const alone = await load({ seconds, classes: [one] });
  const many = { ...misses(), clients: 4 * bench.cores };
  const closed = await load({ seconds: seconds + 0.5, warmupS: 0.5, classes: [many] });
  const idleHits = await load({ seconds, classes: [{ ...hits, url: urlOf(server, small) }] });
  return {
    peak: ofClass(closed, 'misses').goodput,
    missMs: percentile(alone, 'misses', 'miss', 0.5),
    hitMs: percentile(idleHits, 'hits', 'hit', 0.99),
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
  const seconds = bench.quick ? 2 : 15;
  const url = urlOf(server, bench.sources.photo);
  const result = await load({
    seconds: seconds + restS(bench),
    drainS: 15,
    classes: [
      { name: 'misses', url, first: unused(), rate, untilS: seconds },
      { ...hits, url: urlOf(server, bench.sources.small), untilS: seconds },
      { name: 'probes', url, first: unused(), rate: probeRate, fromS: seconds, keepSamples: true },
    ],
  });
  const { counts, perSecond } = ofClass(result, 'misses');
  const { hit, miss, refused, failed } = counts;
  const inTime = perSecond.slice(0, seconds).reduce((sum, count) => sum + count, 0);
  return {
    goodput: inTime / seconds,
    refusedShare: refused / (hit + miss + refused + failed),
    refusalsMs: percentile(result, 'misses', 'refused', 0.99),
    hitsMs: percentile(result, 'hits', 'hit', 0.99),
    failed,
    recoveryS: recovery(ofClass(result, 'probes').samples, seconds, calmFactor * idleMs),
  };
}

/** Seconds from the end of the load to the first of `calmProbes` fast probes; infinite without them. */
export function recovery(
  probes: readonly RequestSample[],
  fromS: number,
  withinMs: number,
): number {
  const inOrder = [...probes].sort((a, b) => a.dueS - b.dueS);
  const calm = inOrder.map(({ outcome, latencyMs }) => outcome === 'miss' && latencyMs <= withinMs);
  const first = calm.findIndex((_, index) => {
    const next = calm.slice(index, index + calmProbes);
    return next.length === calmProbes && next.every(Boolean);
  });
  return (inOrder[first]?.dueS ?? Number.POSITIVE_INFINITY) - fromS;
}

const percentile = (result: LoadResult, name: string, outcome: Outcome, share: number): number =>
  Latencies.merged([ofClass(result, name).latency[outcome]]).percentile(share);
