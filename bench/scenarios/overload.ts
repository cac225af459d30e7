import { latencyOf } from '../load/latencies.ts';
import { load, loadOne, requestOnce, resultOf } from '../load/load.ts';
import type { RequestSample } from '../load/plan.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { alternate, figure, median, spread } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

const measures = {
  goodput: {
    what: 'images per second under overload, divided by the peak',
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
} as const satisfies Measures;

type OverloadBench = Bench<keyof typeof measures>;

const factors = [5, 10];
const hotUrls = 50;
const hits = { name: 'hits', first: 0, count: hotUrls, rate: 100 };
const probeRate = 10;
/** The recovery ends with this many consecutive probes of at most `fastFactor` times the idle time. */
const fastProbes = 3;
const fastFactor = 2;

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

export const overload: Scenario = {
  title: 'Overload',
  method:
    'Misses in an open loop at 5 and 10 times the capacity that a closed loop finds, and 100 hits per second beside them. Goodput is the images that arrive during the load. Afterwards ten misses per second show when they take at most twice their idle time again.',
  measures,
  async run(bench) {
    const rows = [heads];
    const service = await bench.open(deployService());
    for (const server of [service, ...bench.peers(bench.sources.photo.pixels)]) {
      await requestOnce(imageUrlOf(server, bench.sources.small), hotUrls);
      const idle = await idleOf(bench, server);
      for (const factor of factors) {
        const { results } = await alternate(bench.quick ? 1 : bench.rounds, {
          results: () => overloaded(bench, server, factor * idle.peak, idle.missMs),
        });
        const valuesOf = (key: keyof Overloaded) => results.map((result) => result[key]);
        const shares = valuesOf('goodput').map((goodput) => goodput / idle.peak);
        rows.push([
          server.name,
          `${factor} x`,
          spread(valuesOf('goodput')),
          spread(shares),
          `${figure(100 * median(valuesOf('refusedShare')))} %`,
          spread(valuesOf('refusalsMs')),
          spread(valuesOf('hitsMs')),
          figure(idle.hitMs),
          figure(median(valuesOf('failed'))),
          spread(valuesOf('recoveryS')),
        ]);
        if (server !== service) continue;
        const caseName = `${factor} times the capacity`;
        const rates = `${spread(valuesOf('goodput'))}/s, peak ${figure(idle.peak)}/s`;
        bench.finding('goodput', caseName, shares, rates);
        bench.finding('p99 of refusals', caseName, valuesOf('refusalsMs'), '');
        const observed = `idle ${figure(idle.missMs)} ms, observed for ${restS(bench)} s`;
        bench.finding('recovery', caseName, valuesOf('recoveryS'), observed);
        bench.finding('p99 of hits', caseName, valuesOf('hitsMs'), `idle ${figure(idle.hitMs)} ms`);
      }
    }
    bench.table({ title: 'Overload', rows });
  },
};

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
  const misses = () => ({ name: 'misses', url: imageUrlOf(server, photo), first: unusedNumber() });
  const alone = await loadOne({ ...misses(), clients: 1, requests: 20 }, { seconds });
  const concurrent = { ...misses(), clients: 4 * bench.cores };
  const closedLoop = await loadOne(concurrent, { seconds: seconds + 0.5, warmupS: 0.5 });
  const idleHits = await loadOne({ ...hits, url: imageUrlOf(server, small) }, { seconds });
  return {
    peak: closedLoop.goodput,
    missMs: latencyOf([alone], 'miss', 0.5),
    hitMs: latencyOf([idleHits], 'hit', 0.99),
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
  const url = imageUrlOf(server, bench.sources.photo);
  const result = await load({
    seconds: seconds + restS(bench),
    drainS: 15,
    classes: [
      { name: 'misses', url, first: unusedNumber(), rate, untilS: seconds },
      { ...hits, url: imageUrlOf(server, bench.sources.small), untilS: seconds },
      {
        name: 'probes',
        url,
        first: unusedNumber(),
        rate: probeRate,
        fromS: seconds,
        keepSamples: true,
      },
    ],
  });
  const misses = resultOf(result, 'misses');
  const { hit, miss, refused, failed } = misses.counts;
  return {
    goodput: misses.goodput,
    refusedShare: refused / (hit + miss + refused + failed),
    refusalsMs: latencyOf([misses], 'refused', 0.99),
    hitsMs: latencyOf([resultOf(result, 'hits')], 'hit', 0.99),
    failed,
    recoveryS: recovery(resultOf(result, 'probes').samples, seconds, fastFactor * idleMs),
  };
}

/** Seconds from the end of the load to the first of `fastProbes` consecutive fast probes; infinite without them. */
export function recovery(
  probes: readonly RequestSample[],
  fromS: number,
  withinMs: number,
): number {
  const inOrder = [...probes].sort((a, b) => a.dueS - b.dueS);
  const fast = inOrder.map(({ outcome, latencyMs }) => outcome === 'miss' && latencyMs <= withinMs);
  const first = fast.findIndex((_, index) => {
    const next = fast.slice(index, index + fastProbes);
    return next.length === fastProbes && next.every(Boolean);
  });
  return (inOrder[first]?.dueS ?? Number.POSITIVE_INFINITY) - fromS;
}
