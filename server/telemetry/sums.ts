import type { Registry } from 'prom-client';
import { aggregate, type MetricsSnapshot } from './registry.ts';

/**
 * Sums the metrics of all front ends. Counters and histograms include ended processes, so they never
 * decrease; gauges are those of running processes.
 */
export class MetricSums {
  readonly #running = new Map<number, MetricsSnapshot>();
  /** The sums of the ended processes. */
  #past: MetricsSnapshot = [];

  /** A front end's snapshot replaces its last one. */
  report(frontEnd: number, snapshot: MetricsSnapshot): void {
    this.#running.set(frontEnd, snapshot);
  }

  /** A front end's process has ended, after its last report. */
  end(frontEnd: number): void {
    const ended = this.#running.get(frontEnd) ?? [];
    const lasting = ended.filter(({ type }) => String(type) !== 'gauge');
    // The metrics of an aggregate contain their values.
    this.#past = aggregate([this.#past, lasting]).getMetricsAsArray() as unknown as MetricsSnapshot;
    this.#running.delete(frontEnd);
  }

  /** The sums, together with the metrics of this process. */
  total(own: MetricsSnapshot): Registry {
    return aggregate([own, this.#past, ...this.#running.values()]);
  }
}
