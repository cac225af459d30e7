import type { Bench, Measures } from '../scenarios/scenario.ts';
import type { FleetResponse } from './client.ts';
import type { Fleet } from './fleet.ts';

/** Processor time, in ms. */
export interface ProcessorCost {
  /** All processor time of the machines, divided by the renders: it includes cache hits. */
  readonly render: number;
  /** Processor time of the balancer, divided by the requests. */
  readonly balancer: number;
}

export type FleetBench = Pick<
  Bench,
  'quick' | 'progress' | 'finding' | 'table' | 'chart' | 'note'
> & {
  readonly fleet: Fleet;
  /** Number of variants; all are cached after the first part. */
  readonly variants: number;
  /** The length of each fault. */
  readonly faultMs: number;
  /** Null before it is measured. */
  cost: ProcessorCost | null;
  /** Requests of the busiest machine, divided by the mean; 1 before it is measured. */
  busiestShare: number;
};

/** A part of the benchmark; the parts run in order on one fleet. */
export interface FleetPart {
  readonly title: string;
  readonly method: string;
  readonly measures: Measures;
  run(bench: FleetBench): Promise<void>;
}

/** The number of requests, and the five first kinds of failures with their numbers. */
export function failuresInWords(answers: readonly FleetResponse[]): string {
  const counts = new Map<string, number>();
  for (const { status, failure, machine } of answers) {
    if (status === 200) continue;
    const name = `${status} ${failure.slice(0, 120)}${machine === '' ? '' : ` (${machine})`}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const failures = [...counts].slice(0, 5).map(([name, count]) => `${count} x ${name}`);
  return [`${answers.length} requests`, ...failures].join('; ');
}
