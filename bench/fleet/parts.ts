import { setTimeout as sleep } from 'node:timers/promises';
import { seeded, zipf } from '../load/generator.ts';
import type { Finished } from '../load/results.ts';
import { type Measure, type Measures, percentile } from '../report.ts';
import type { Scenario } from '../run.ts';
import {
  deadlineMs,
  type Fault,
  type Fleet,
  type FleetBench,
  failuresInWords,
  isFailed,
  type Link,
  slowMs,
  toSourceNumber,
} from './fleet.ts';

/**
 * The parts of `npm run bench:fleet`, which run in order on the same fleet. The first part caches
 * all variants.
 */

const failed = {
  what: 'requests without an image',
  unit: 'requests',
  goal: { atMost: 0 },
} as const satisfies Measure;

function reportFailed(
  { results }: FleetBench<'failed'>,
  caseName: string,
  responses: readonly Finished[],
): void {
  const count = responses.filter(isFailed).length;
  results.finding('failed', caseName, [count], failuresInWords(responses));
}

const every = (variants: number): number[] => Array.from({ length: variants }, (_, n) => n);

const exponent = 0.8;
const wholeMeasures = {
  failed,
  renders: {
    what: 'renders of a variant after its first one, except of variants that several machines served',
    unit: 'renders',
    goal: { atMost: 0 },
  },
  fetches: {
    what: 'fetches within 30 s of the last one of the same source, except of sources that several machines served',
    unit: 'fetches',
    goal: { atMost: 0 },
  },
  spilled: { what: 'variants that several machines served', unit: '%' },
} as const satisfies Measures;

export const whole: Scenario<FleetBench> = {
  title: 'All machines run',
  method: `Requests for the variants in Zipf order (exponent ${exponent}) by 12 clients. The balancer bounds the load of a machine: requests beyond the bound go to the next machine, so that several machines serve some variants.`,
  measures: wholeMeasures,
  async run(bench: FleetBench<keyof typeof wholeMeasures>) {
    const { fleet, variants, results } = bench;
    const { client, pictures } = fleet;
    const requests = Array.from({ length: variants }, zipf(variants, exponent, seeded(1)));
    const before = await countRenders(fleet);
    const responses = await client.each(requests, results.progress);
    const renders = (await countRenders(fleet)) - before;
    const machines = machinesBy(responses, ({ number }) => number);
    const machinesOfSource = machinesBy(responses, ({ number }) => toSourceNumber(number));
    const counts = [...machines.values()].map(({ size }) => size);
    const expected = counts.reduce((sum, count) => sum + count, 0);
    reportFailed(bench, 'all', responses);
    const rendered = `${renders} renders of ${machines.size} variants`;
    results.finding('renders', 'all', [Math.max(0, renders - expected)], rendered);
    const repeated = [...pictures.repeated]
      .filter(([source]) => (machinesOfSource.get(source)?.size ?? 1) === 1)
      .reduce((sum, [, count]) => sum + count, 0);
    const fetched = `${pictures.total()} fetches of ${machinesOfSource.size} sources`;
    results.finding('fetches', 'all', [repeated], fetched);
    const spilled = counts.filter((count) => count > 1).length;
    results.finding('spilled', 'all', [(100 * spilled) / counts.length], `${spilled} variants`);
    const requested = new Set(requests);
    const others = every(variants).filter((variant) => !requested.has(variant));
    await client.each(others, results.progress);
    // Until no more objects arrive in the bucket.
    for (let last = -1; last !== fleet.objects(); await sleep(2_000)) last = fleet.objects();
    results.progress(`${fleet.objects()} objects in the bucket`);
  },
};

async function countRenders({ machines }: Fleet): Promise<number> {
  const healths = await Promise.all(machines.map((machine) => machine.health()));
  return healths.reduce((sum, { checks }) => sum + checks.transformQueue.completed, 0);
}

function machinesBy(responses: readonly Finished[], key: (response: Finished) => number) {
  const machines = new Map<number, Set<string>>();
  for (const response of responses) {
    const known = machines.get(key(response)) ?? new Set();
    machines.set(key(response), known.add(response.machine));
  }
  return machines;
}

const replacedMeasures = {
  failed,
  'without a render': {
    what: 'known variants that new machines deliver without rendering them',
    unit: '%',
    goal: { atLeast: 99 },
  },
} as const satisfies Measures;

export const replaced: Scenario<FleetBench> = {
  title: 'All machines are replaced',
  method:
    'One after the other, each machine is stopped and its data deleted, and a new one takes its place, while known variants are requested. Then each known variant is requested once.',
  measures: replacedMeasures,
  async run(bench: FleetBench<keyof typeof replacedMeasures>) {
    const { fleet, variants, results } = bench;
    const { client, machines } = fleet;
    const ended = new AbortController();
    let next = 0;
    const during = client.atRate(50, () => next++ % variants, ended.signal);
    for (const machine of machines) {
      await machine.close();
      await machine.erase();
      await machine.start();
      results.progress(`${machine.url} is replaced`);
      await fleet.balancer.untilAllUsed();
    }
    ended.abort();
    reportFailed(bench, 'during the replacement', await during);
    const responses = await client.each(every(variants), results.progress);
    reportFailed(bench, 'afterwards', responses);
    const tiers = ['memory', 'disk', 'shared', 'miss'].map((tier) => {
      const count = responses.filter(
        ({ status, cache }) => status === 200 && cache === tier,
      ).length;
      return { tier, count };
    });
    const known = tiers.reduce((sum, { tier, count }) => sum + (tier === 'miss' ? 0 : count), 0);
    const detail = tiers.map(({ tier, count }) => `${tier} ${count}`).join(', ');
    results.finding('without a render', 'all', [(100 * known) / variants], detail);
  },
};

const perSecond = 30;
/** No request has used variants from this number on. */
const firstNewVariant = 1_000_000;
let newVariant = firstNewVariant;

async function during(
  { fleet, variants, faultMs }: Omit<FleetBench, 'results'>,
  link: Link,
  fault: Fault,
): Promise<readonly Finished[]> {
  await link.set(fault);
  let count = 0;
  const next = () => (count++ % 2 === 0 ? newVariant++ : Math.floor(Math.random() * variants));
  const responses = await fleet.client.atRate(perSecond, next, AbortSignal.timeout(faultMs));
  await link.set('none');
  await sleep(3_000);
  return responses;
}

const method = `${perSecond} requests a second, every second one for a new variant.`;

const storeMeasures = { failed } as const satisfies Measures;

export const storeAway: Scenario<FleetBench> = {
  title: 'The store is unavailable',
  method,
  measures: storeMeasures,
  async run(bench: FleetBench<keyof typeof storeMeasures>) {
    for (const fault of ['refused', 'silent'] as const) {
      reportFailed(bench, fault, await during(bench, bench.fleet.store, fault));
    }
  },
};

const bucketMeasures = {
  failed,
  longer: {
    what: '99th percentile of new variants, minus that with a working bucket',
    unit: 'ms',
    goal: { atMost: deadlineMs },
  },
} as const satisfies Measures;

export const bucketAway: Scenario<FleetBench> = {
  title: 'The bucket fails',
  method: `${method} A slow bucket sends each packet ${slowMs / 1_000} s later in each direction. The deadline of a read is ${deadlineMs} ms.`,
  measures: bucketMeasures,
  async run(bench: FleetBench<keyof typeof bucketMeasures>) {
    const { bucket } = bench.fleet;
    const normal = p99OfNew(await during(bench, bucket, 'none'));
    for (const fault of ['silent', 'slow', 'refused'] as const) {
      const responses = await during(bench, bucket, fault);
      reportFailed(bench, fault, responses);
      const p99 = p99OfNew(responses);
      const detail = `${p99.toFixed(0)} ms; with a working bucket ${normal.toFixed(0)} ms`;
      bench.results.finding('longer', fault, [p99 - normal], detail);
    }
  },
};

function p99OfNew(responses: readonly Finished[]): number {
  const ofNew = responses.filter(({ number }) => number >= firstNewVariant);
  return percentile(
    ofNew.map(({ dueAt, endAt }) => endAt - dueAt),
    0.99,
  );
}

const effectiveAfterMs = 2_000;
const purgeMeasures = {
  old: {
    what: `responses with an image from before the purge, to requests sent ${effectiveAfterMs / 1_000} s after it or later`,
    unit: 'responses',
    goal: { atMost: 0 },
  },
  failed,
} as const satisfies Measures;

export const purge: Scenario<FleetBench> = {
  title: 'A purge, while a machine is killed and one returns with an old disk',
  method: `One machine is stopped. All pictures are replaced and purged, another machine is killed at the same time, and the first returns with its old disk. Meanwhile ${perSecond} requests a second are sent, which one machine can render; then each variant is requested once.`,
  measures: purgeMeasures,
  async run(bench: FleetBench<keyof typeof purgeMeasures>) {
    const { fleet, variants, results, faultMs } = bench;
    const { client } = fleet;
    const [first, second, third] = fleet.machines;
    if (first === undefined || second === undefined || third === undefined) return;
    const before = await client.each(every(variants), results.progress);
    const oldTags = new Map(before.map(({ number, etag }) => [number, etag]));
    await third.close();
    const ended = new AbortController();
    const next = () => Math.floor(Math.random() * variants);
    const responses = client.atRate(perSecond, next, ended.signal);
    await sleep(1_000);
    fleet.pictures.replace();
    const purged = first.post(`/projects/${fleet.project}/purge`, { all: true });
    await second.kill();
    await purged;
    const effectiveAt = performance.now() + effectiveAfterMs;
    await third.start();
    results.progress('a machine returned with its old disk');
    await second.start();
    results.progress('the other one returned after its kill');
    await sleep(Math.max(10_000, faultMs / 2));
    ended.abort();
    const found = {
      during: await responses,
      afterwards: await client.each(every(variants), results.progress),
    };
    for (const [name, all] of Object.entries(found)) {
      const late = all.filter(({ dueAt }) => dueAt >= effectiveAt);
      const old = late.filter(({ number, etag }) => etag !== '' && etag === oldTags.get(number));
      results.finding('old', name, [old.length], `${late.length} responses`);
      reportFailed(bench, name, all);
    }
  },
};
