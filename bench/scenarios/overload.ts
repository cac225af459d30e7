import { load, loadOne, requestEach } from '../load/load.ts';
import { type ClassResult, latencyOf } from '../load/results.ts';
import type { Measures } from '../report.ts';
import { alternate, figure, median, spread } from '../rounds.ts';
import type { Scenario } from '../run.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, unusedNumber } from './bench.ts';
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
const hits = { first: 0, count: hotUrls, rate: 100 };
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

export const overload: Scenario<Bench> = {
  title: 'Overload',
  method:
    'Misses in an open loop at 5 and 10 times the capacity that a closed loop finds, and 100 hits per second beside them. Goodput is the images that arrive during the load. Afterwards ten misses per second show when they take at most twice their idle time again.',
  measures,
  async run(bench: OverloadBench) {
    const { opened, results, sources, quick } = bench;
    const rows = [heads];
    const service = await opened.open(deployService());
    for (const server of [service, ...bench.peers]) {
      await requestEach(imageUrlOf(server, sources.small), hotUrls);
      const idle = await idleOf(bench, server);
      for (const factor of factors) {
        const { found } = await alternate(quick ? 1 : bench.rounds, {
          found: () => overloaded(bench, server, factor * idle.peak, idle.missMs),
        });
        const valuesOf = (key: keyof Overloaded) => found.map((result) => result[key]);
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
        results.finding('goodput', caseName, shares, rates);
        results.finding('p99 of refusals', caseName, valuesOf('refusalsMs'));
        const observed = `idle ${figure(idle.missMs)} ms, observed for ${restS(bench)} s`;
        results.finding('recovery', caseName, valuesOf('recoveryS'), observed);
        const idleHits = `idle ${figure(idle.hitMs)} ms`;
        results.finding('p99 of hits', caseName, valuesOf('hitsMs'), idleHits);
      }
    }
    results.table({ title: 'Overload', rows });
  },
};

/** The images per second in a closed loop, the median of misses one at a time, and the p99 of hits. */
async function idleOf({ sources, cores, ...bench }: OverloadBench, server: ImageServer) {
  const seconds = bench.quick ? 1.5 : 2 * bench.seconds;
  const misses = () => ({ url: imageUrlOf(server, sources.photo), first: unusedNumber() });
  const alone = await loadOne({ ...misses(), clients: 1, requests: 20 }, { seconds });
  const concurrent = { ...misses(), clients: 4 * cores };
  const closedLoop = await loadOne(concurrent, { seconds: seconds + 0.5, warmupS: 0.5 });
  const idleHits = await loadOne({ ...hits, url: imageUrlOf(server, sources.small) }, { seconds });
  return {
    peak: closedLoop.goodput,
    missMs: latencyOf([alone], 'miss', 0.5),
    hitMs: latencyOf([idleHits], 'hit', 0.99),
  };
}

/** How long the recovery is observed. */
const restS = ({ quick }: OverloadBench): number => (quick ? 2.5 : 8);

type Overloaded = Awaited<ReturnType<typeof overloaded>>;

async function overloaded(bench: OverloadBench, server: ImageServer, rate: number, idleMs: number) {
  const untilS = bench.quick ? 2 : 15;
  const url = imageUrlOf(server, bench.sources.photo);
  const hot = imageUrlOf(server, bench.sources.small);
  const [misses, hitsBeside, probes] = await load({
    seconds: untilS + restS(bench),
    classes: [
      { url, first: unusedNumber(), rate, untilS },
      { ...hits, url: hot, untilS },
      { url, first: unusedNumber(), rate: probeRate, fromS: untilS },
    ],
  });
  return {
    goodput: misses.goodput,
    refusedShare: misses.counts.refused / misses.samples.length,
    refusalsMs: latencyOf([misses], 'refused', 0.99),
    hitsMs: latencyOf([hitsBeside], 'hit', 0.99),
    failed: misses.counts.failed,
    recoveryS: recovery(probes.samples, untilS, fastFactor * idleMs),
  };
}

/** Seconds from the end of the load to the first of `fastProbes` consecutive fast probes; infinite without them. */
export function recovery(probes: ClassResult['samples'], fromS: number, withinMs: number): number {
  const inOrder = [...probes].sort((a, b) => a.dueS - b.dueS);
  const fast = inOrder.map(({ outcome, latencyMs }) => outcome === 'miss' && latencyMs <= withinMs);
  const first = fast.findIndex((_, index) => {
    const next = fast.slice(index, index + fastProbes);
    return next.length === fastProbes && next.every(Boolean);
  });
  return (inOrder[first]?.dueS ?? Number.POSITIVE_INFINITY) - fromS;
}
