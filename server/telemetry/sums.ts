import type { Registry } from 'prom-client';
import { aggregate, type MetricsSnapshot } from './registry.ts';

/**
 * Sums the metrics of all front ends. Counters and histograms include ended processes, so they
 * never decrease; gauges include only running processes.
 */
export class MetricSums {
  readonly #running = new Map<number, MetricsSnapshot>();
  /** Sums over ended processes. */
  #past: MetricsSnapshot = [];

  /** Replaces a front end's previous snapshot. */
  report(frontEnd: number, snapshot: MetricsSnapshot): void {
    this.#running.set(frontEnd, snapshot);
  }

  /** Notes that a front end's process has ended, after its last report. */
  end(frontEnd: number): void {
    const ended = this.#running.get(frontEnd) ?? [];
    const lasting = ended.filter(({ type }) => String(type) !== 'gauge');
    // An aggregate's metrics contain their values.
    this.#past = aggregate([this.#past, lasting]).getMetricsAsArray() as unknown as MetricsSnapshot;
    this.#running.delete(frontEnd);
  }

  /** Returns the sums, including this process's metrics. */
  total(own: MetricsSnapshot): Registry {
    return aggregate([own, this.#past, ...this.#running.values()]);
  }
}
