import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../scenarios/rounds.ts';
import { deadlineMs } from '../bucket.ts';
import { type FleetResponse, isFailed } from '../client.ts';
import { type Fault, type Link, slowMs } from '../link.ts';
import { type FleetBench, type FleetPart, failuresInWords } from '../results.ts';

const perSecond = 30;
/** Variants from this number on have not been requested before. */
const firstNewVariant = 1_000_000;
let newVariant = firstNewVariant;

async function during(bench: FleetBench, link: Link, fault: Fault): Promise<FleetResponse[]> {
  const { fleet, variants, faultMs } = bench;
  await link.set(fault);
  let count = 0;
  const next = () => (count++ % 2 === 0 ? newVariant++ : Math.floor(Math.random() * variants));
  const answers = await fleet.client.atRate(perSecond, next, AbortSignal.timeout(faultMs));
  await link.set('none');
  return answers;
}

const isNew = ({ variant }: FleetResponse): boolean => variant >= firstNewVariant;
const p99 = (answers: readonly FleetResponse[]): number =>
  percentile(
    answers.filter(isNew).map(({ ms }) => ms),
    0.99,
  );

const method = `${perSecond} requests a second, every second one for a new variant.`;

export const storeAway: FleetPart = {
  title: 'The store is unavailable',
  method,
  measures: {
    failed: {
      what: 'requests of a known project without an image',
      unit: 'requests',
      goal: { atMost: 0 },
    },
  },
  async run(bench) {
    for (const fault of ['refused', 'silent'] as const) {
      const answers = await during(bench, bench.fleet.store, fault);
      const failed = answers.filter(isFailed).length;
      bench.finding('failed', fault, [failed], failuresInWords(answers));
      await sleep(3_000);
    }
  },
};

export const bucketAway: FleetPart = {
  title: 'The bucket fails',
  method: `${method} A slow bucket sends each packet ${slowMs / 1_000} s later in each direction. The deadline of a read is ${deadlineMs} ms.`,
  measures: {
    failed: { what: 'requests without an image', unit: 'requests', goal: { atMost: 0 } },
    longer: {
      what: '99th percentile of new variants, minus that with a working bucket',
      unit: 'ms',
      goal: { atMost: deadlineMs },
    },
  },
  async run(bench) {
    const { bucket } = bench.fleet;
    const normal = await during(bench, bucket, 'none');
    const timelines = [timeline('works', normal)];
    for (const fault of ['silent', 'slow', 'refused'] as const) {
      const answers = await during(bench, bucket, fault);
      const failed = answers.filter(isFailed).length;
      bench.finding('failed', fault, [failed], failuresInWords(answers));
      const detail = `${p99(answers).toFixed(0)} ms; with a working bucket ${p99(normal).toFixed(0)} ms`;
      bench.finding('longer', fault, [p99(answers) - p99(normal)], detail);
      timelines.push(timeline(fault, answers));
      await sleep(3_000);
    }
    bench.chart({
      name: 'bucket',
      title: 'New variants while the bucket fails, 99th percentile of each tenth of the time',
      panels: [{ title: 'ms', series: timelines }],
      xTitle: 'seconds since the beginning of the fault',
    });
  },
};

const points = 10;

/** The 99th percentile of new variants in each tenth of the time. */
function timeline(name: string, answers: readonly FleetResponse[]) {
  const newVariantResponses = answers.filter(isNew);
  const first = newVariantResponses[0]?.sentAt ?? 0;
  const lengthMs = ((newVariantResponses.at(-1)?.sentAt ?? 0) - first) / points;
  return {
    name,
    points: Array.from({ length: points }, (_, index) => {
      const from = first + index * lengthMs;
      const part = newVariantResponses.filter(
        ({ sentAt }) => sentAt >= from && sentAt < from + lengthMs,
      );
      return [(index * lengthMs) / 1_000, p99(part)] as const;
    }),
  };
}
