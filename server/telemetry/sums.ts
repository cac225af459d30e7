import { type Metric, type ServiceMetric, serviceMetrics } from './metrics.ts';
import type { MetricsSnapshot } from './registry.ts';

type Values = Record<string, number | readonly number[]>;

/**
 * Sums the metrics of all front ends. Counters and histograms include ended processes, so they never
 * decrease; gauges are those of running processes.
 */
export class MetricSums {
  readonly #running = new Map<number, MetricsSnapshot>();
  /** The sums of the ended processes. */
  #past: MetricsSnapshot = {};

  /** A front end's snapshot replaces its last one. */
  report(frontEnd: number, snapshot: MetricsSnapshot): void {
    this.#running.set(frontEnd, snapshot);
  }

  /** A front end's process has ended, after its last report. */
  end(frontEnd: number): void {
    this.#past = sum([this.#past, withoutGauges(this.#running.get(frontEnd) ?? {})]);
    this.#running.delete(frontEnd);
  }

  /** The sums, together with the metrics of this process. */
  total(own: MetricsSnapshot): MetricsSnapshot {
    return sum([this.#past, ...this.#running.values(), own]);
  }
}

const metricOf = (name: string): Metric => serviceMetrics[name as ServiceMetric];

function withoutGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return Object.fromEntries(
    Object.entries(snapshot).filter(([name]) => metricOf(name).type !== 'gauge'),
  );
}

function sum(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const total: Record<string, Values> = {};
  for (const snapshot of snapshots) {
    for (const [name, values] of Object.entries(snapshot)) {
      const { aggregation = 'sum' } = metricOf(name);
      const sums = total[name] ?? {};
      total[name] = sums;
      for (const [labels, value] of Object.entries(values)) {
        const before = sums[labels];
        sums[labels] = before === undefined ? value : add(before, value, aggregation);
      }
    }
  }
  return total;
}

type Value = number | readonly number[];

function add(a: Value, b: Value, aggregation: 'sum' | 'min' | 'max'): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    return aggregation === 'sum' ? a + b : Math[aggregation](a, b);
  }
  const [first, second] = [a as readonly number[], b as readonly number[]];
  return first.map((value, index) => value + (second[index] ?? 0));
}
