import { load, loadOne, requestEach } from '../load/load.ts';
import { type ClassResult, latencyPercentile, type Outcome, type Sample } from '../load/results.ts';
import { alternate, figure, type Measures, median, percentile, spread } from '../report.ts';
import type { Scenario } from '../run.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, toImageUrl, unusedNumber } from './bench.ts';

const measures = {
  goodput: {
    what: 'images per second under overload, divided by the peak in the same round',
    unit: '×',
  },
  'goodput of the rest': {
    what: 'the same, each divided by the processors that the load generator leaves',
    unit: '×',
    goal: { atLeast: 0.9 },
  },
  'p99 of refusals': {
    what: 'p99 of refusals, without the load generator’s part',
    unit: 'ms',
    goal: { atMost: 10 },
  },
  recovery: {
    what: 'time until misses are as fast as when idle',
    unit: 's',
    goal: { atMost: 2 },
  },
  'p99 of hits': {
    what: 'p99 of hits under overload, without the load generator’s part',
    unit: 'ms',
    goal: { atMost: 10 },
  },
} as const satisfies Measures;

type OverloadBench = Bench<keyof typeof measures>;

const factors = [5, 10];
const hotUrls = 50;
const hits = { first: 0, count: hotUrls, rate: 100 };
const probeRate = 10;
/** Warm-up of the peak and the overload: fills the queue and compiles the generator's code. */
const warmupS = 0.5;
/** The recovery ends with this many consecutive probes of at most `fastFactor` times the idle time. */
const fastProbes = 3;
const fastFactor = 2;

const heads = [
  '',
  'load',
  'goodput/s',
  'of peak',
  'of the rest',
  'refused',
  'refusals p99 ms',
  'at the server',
  'hits p99 ms',
  'at the server',
  'idle',
  'p99 of the first 0.5 s',
  'other',
  'recovery s',
];

export const overload: Scenario<Bench> = {
  title: 'Overload',
  method:
    'Misses in an open loop at 5 and 10 times the capacity that a closed loop finds, and 100 hits per second beside them. Goodput is the images that arrive after the first 0.5 s, in which the queue fills; the peak is measured before each load. The generator has a higher priority than the servers if it may (as root), and its part of a latency is the time until the request is written, and at most the time that the response waits to be read. Afterwards ten misses per second show when they take at most twice their idle time again.',
  measures,
  async run(bench: OverloadBench) {
    const { opened, results, sources, quick } = bench;
    const rows = [heads];
    const service = await opened.open(deployService());
    for (const server of [service, ...bench.peers]) {
      await requestEach(toImageUrl(server, sources.small), hotUrls);
      const idle = await measureIdle(bench, server);
      for (const factor of factors) {
        const { found } = await alternate(quick ? 1 : bench.rounds, {
          found: () => overloaded(bench, server, factor * idle.peak, idle.missMs),
        });
        const getValues = (key: keyof Overloaded) => found.map((result) => result[key]);
        rows.push([
          server.name,
          `${factor} x`,
          spread(getValues('goodput')),
          spread(getValues('ofPeak')),
          spread(getValues('ofRest')),
          `${figure(100 * median(getValues('refusedShare')))} %`,
          spread(getValues('refusalsMs')),
          spread(getValues('refusalsServerMs')),
          spread(getValues('hitsMs')),
          spread(getValues('hitsServerMs')),
          figure(idle.hitMs),
          spread(getValues('earlyMs')),
          figure(median(getValues('failed'))),
          spread(getValues('recoveryS')),
        ]);
        if (server !== service) continue;
        const caseName = `${factor} times the capacity`;
        const rates = `${spread(getValues('goodput'))}/s, peak ${spread(getValues('peak'))}/s`;
        results.finding('goodput', caseName, getValues('ofPeak'), rates);
        const own = `the generator uses ${spread(getValues('generatorCores'))} processors`;
        results.finding('goodput of the rest', caseName, getValues('ofRest'), own);
        const whole = (key: keyof Overloaded) => `${spread(getValues(key))} ms in all`;
        results.finding(
          'p99 of refusals',
          caseName,
          getValues('refusalsServerMs'),
          whole('refusalsMs'),
        );
        const observed = `idle ${figure(idle.missMs)} ms, observed for ${restS(bench)} s`;
        results.finding('recovery', caseName, getValues('recoveryS'), observed);
        const hitsInAll = `${whole('hitsMs')}, idle ${figure(idle.hitMs)} ms`;
        results.finding('p99 of hits', caseName, getValues('hitsServerMs'), hitsInAll);
      }
    }
    results.table({ title: 'Overload', rows });
  },
};

/** The images per second in a closed loop, the median of misses one at a time, and the p99 of hits. */
async function measureIdle(bench: OverloadBench, server: ImageServer) {
  const { sources } = bench;
  const seconds = phaseSeconds(bench);
  const misses = { url: toImageUrl(server, sources.photo), first: unusedNumber() };
  const alone = await loadOne({ ...misses, clients: 1, requests: 20 }, { seconds });
  const { goodput } = await measurePeak(bench, server);
  const idleHits = await loadOne({ ...hits, url: toImageUrl(server, sources.small) }, { seconds });
  return {
    peak: goodput,
    missMs: latencyPercentile([alone], 'miss', 0.5),
    hitMs: latencyPercentile([idleHits], 'hit', 0.99),
  };
}

const phaseSeconds = ({ quick, seconds }: OverloadBench): number => (quick ? 1.5 : 2 * seconds);

/** The images per second in a closed loop, which keeps all processors busy. */
function measurePeak(bench: OverloadBench, server: ImageServer): Promise<ClassResult> {
  const misses = { url: toImageUrl(server, bench.sources.photo), first: unusedNumber() };
  const concurrent = { ...misses, clients: 4 * bench.cores };
  return loadOne(concurrent, { seconds: phaseSeconds(bench) + warmupS, warmupS });
}

/** How long to observe the recovery. */
const restS = ({ quick }: OverloadBench): number => (quick ? 2.5 : 8);

type Overloaded = Awaited<ReturnType<typeof overloaded>>;

async function overloaded(bench: OverloadBench, server: ImageServer, rate: number, idleMs: number) {
  const untilS = warmupS + (bench.quick ? 2 : 15);
  const url = toImageUrl(server, bench.sources.photo);
  const hot = toImageUrl(server, bench.sources.small);
  const peak = await measurePeak(bench, server);
  const [misses, hitsBeside, probes] = await load({
    seconds: untilS + restS(bench),
    warmupS,
    classes: [
      { url, first: unusedNumber(), rate, untilS },
      { ...hits, url: hot, untilS },
      { url, first: unusedNumber(), rate: probeRate, fromS: untilS },
    ],
  });
  const early = [...misses.early, ...hitsBeside.early];
  const p99s = (result: ClassResult, outcome: Outcome) => ({
    all: latencyPercentile([result], outcome, 0.99),
    server: latencyPercentile([result], outcome, 0.99, 'serverMs'),
  });
  const [refusals, cached] = [p99s(misses, 'refused'), p99s(hitsBeside, 'hit')];
  // Images per second per processor that the generator leaves free.
  const perRest = ({ goodput, generatorCores }: ClassResult) =>
    goodput / (bench.cores - generatorCores);
  return {
    peak: peak.goodput,
    goodput: misses.goodput,
    ofPeak: misses.goodput / peak.goodput,
    ofRest: perRest(misses) / perRest(peak),
    generatorCores: misses.generatorCores,
    refusedShare: misses.counts.refused / misses.samples.length,
    refusalsMs: refusals.all,
    refusalsServerMs: refusals.server,
    hitsMs: cached.all,
    hitsServerMs: cached.server,
    earlyMs: percentile(
      early.filter(({ outcome }) => outcome !== 'miss').map(({ latencyMs }) => latencyMs),
      0.99,
    ),
    failed: misses.counts.failed,
    recoveryS: recovery(probes.samples, untilS, fastFactor * idleMs),
  };
}

/**
 * Returns the seconds from the load's end to the first of `fastProbes` consecutive fast probes;
 * infinite if none occur.
 */
export function recovery(
  probes: ReadonlyArray<Omit<Sample, 'serverMs'>>,
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
