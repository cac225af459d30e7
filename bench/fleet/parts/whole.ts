import { setTimeout as sleep } from 'node:timers/promises';
import { seeded, zipf } from '../../load/random.ts';
import { processorMs } from '../../servers/processes.ts';
import { type FleetResponse, isFailed } from '../client.ts';
import type { Fleet } from '../fleet.ts';
import { sourceNumberOf } from '../pictures.ts';
import {
  type FleetBench,
  type FleetPart,
  failuresInWords,
  type ProcessorCost,
} from '../results.ts';

const clients = 12;
const exponent = 0.8;

const measures = {
  failed: { what: 'requests without an image', unit: 'requests', goal: { atMost: 0 } },
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
  share: { what: 'requests of the busiest machine, divided by the mean', unit: '×' },
} as const;

export const whole: FleetPart = {
  title: 'All machines run',
  method: `Requests for the variants in Zipf order (exponent ${exponent}) by ${clients} clients. The balancer bounds the load of a machine: requests beyond the bound go to the next machine, so that several machines serve some variants.`,
  measures,
  async run(bench) {
    const { fleet, variants, finding } = bench;
    const draw = zipf(variants, exponent, seeded(1));
    const requests = Array.from({ length: variants }, draw);
    const before = await rendersOf(fleet);
    const spentBefore = await spent(fleet);
    fleet.pictures.reset();
    const answers = await fleet.client.all(requests, clients, every(bench, variants));
    const renders = (await rendersOf(fleet)) - before;
    const machinesOf = byMachine(answers, ({ variant }) => variant);
    const machinesOfSource = byMachine(answers, ({ variant }) => sourceNumberOf(variant));
    const extra = [...machinesOf.values()].reduce((sum, { size }) => sum + size - 1, 0);
    const spilled = [...machinesOf.values()].filter(({ size }) => size > 1).length;
    const repeated = [...fleet.pictures.repeatedFetches].filter(
      ([source]) => (machinesOfSource.get(source)?.size ?? 1) === 1,
    );
    const repeatedCount = repeated.reduce((sum, [, count]) => sum + count, 0);
    finding('failed', 'all', [answers.filter(isFailed).length], failuresInWords(answers));
    finding(
      'renders',
      'all',
      [Math.max(0, renders - machinesOf.size - extra)],
      `${renders} renders of ${machinesOf.size} variants`,
    );
    finding(
      'fetches',
      'all',
      [repeatedCount],
      `${fleet.pictures.total} fetches of ${machinesOfSource.size} sources`,
    );
    finding('spilled', 'all', [(100 * spilled) / machinesOf.size], `${spilled} variants`);
    const counts = fleet.machines.map(
      ({ name }) => answers.filter(({ machine }) => machine === name).length,
    );
    const mean = answers.length / counts.length;
    bench.busiestShare = Math.max(...counts) / mean;
    finding('share', 'all', [bench.busiestShare], counts.join(', '));
    bench.cost = costOf(await spent(fleet), spentBefore, answers, renders);
    await fill(bench, new Set(requests));
  },
};

/** Requests the variants that were not drawn, so that all are cached, and waits until the bucket has them. */
async function fill(bench: FleetBench, requested: ReadonlySet<number>): Promise<void> {
  const { fleet, variants } = bench;
  const missing = Array.from({ length: variants }, (_, variant) => variant).filter(
    (variant) => !requested.has(variant),
  );
  bench.progress(`the other ${missing.length} variants…`);
  await fleet.client.all(missing, clients, every(bench, missing.length));
  await untilStored(bench);
}

/** Resolves when no more objects arrive in the bucket. */
async function untilStored({ fleet, progress }: FleetBench): Promise<void> {
  for (let before = -1, now = 0; now !== before; ) {
    before = now;
    await sleep(2_000);
    now = fleet.objects();
  }
  progress(`${fleet.objects()} objects in the bucket`);
}

/** Reports progress after each tenth of the requests. */
export const every =
  ({ progress }: FleetBench, total: number) =>
  (count: number): void => {
    const step = Math.ceil(total / 10);
    if (count % step === 0) progress(`${count} of ${total} requests`);
  };

async function rendersOf({ machines }: Fleet): Promise<number> {
  const healths = await Promise.all(
    machines.map(async ({ url }) => (await fetch(`${url}/api/health`)).json() as Promise<Health>),
  );
  return healths.reduce((sum, { checks }) => sum + checks.transformQueue.completed, 0);
}

interface Health {
  readonly checks: { readonly transformQueue: { readonly completed: number } };
}

function byMachine(answers: readonly FleetResponse[], key: (answer: FleetResponse) => number) {
  const machines = new Map<number, Set<string>>();
  for (const answer of answers) {
    const known = machines.get(key(answer)) ?? new Set();
    machines.set(key(answer), known.add(answer.machine));
  }
  return machines;
}

/** Processor time so far, in ms. */
async function spent({ machines, balancer }: Fleet) {
  const times = await Promise.all(machines.map(({ pid }) => processorMs(pid)));
  const services = times.reduce((sum, time) => sum + time, 0);
  return { services, balancer: await processorMs(balancer.pid ?? 0) };
}

type Spent = Awaited<ReturnType<typeof spent>>;

const costOf = (
  now: Spent,
  before: Spent,
  answers: readonly FleetResponse[],
  renders: number,
): ProcessorCost => ({
  render: (now.services - before.services) / renders,
  balancer: (now.balancer - before.balancer) / answers.length,
});
