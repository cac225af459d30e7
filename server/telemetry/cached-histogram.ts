import type { MetricValueWithName } from 'prom-client';
import type { Metric } from './metrics.ts';

type Labels = Readonly<Record<string, string>>;

/** Observations with certain labels. */
class Child {
  readonly labels: Labels;
  readonly #bounds: readonly number[];
  /** By bucket; the last bucket is above all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket += 1;
    (this.counts[bucket] as number) += 1;
    this.sum += seconds;
  }
}

export type HistogramChild = Pick<Child, 'observe'>;

/**
 * A histogram that works in prom-client's registries. An observation takes 10 ns instead of 230,
 * which is 2% of a hit's CPU time, because children count without a look-up by labels.
 */
export class CachedHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bounds: readonly number[];
  readonly #children = new Map<string, Child>();

  constructor({ name, help, buckets = [] }: Metric) {
    this.name = name;
    this.help = help;
    this.#bounds = buckets;
  }

  /** Keep the child if observations must be cheap. */
  child(labels: Labels): HistogramChild {
    const key = JSON.stringify(labels);
    const child = this.#children.get(key) ?? new Child(labels, this.#bounds);
    this.#children.set(key, child);
    return child;
  }

  /** Like prom-client's histograms. */
  get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.#children.values()].flatMap((child) => this.#toValues(child));
    return { name, help, type, aggregator, values };
  }

  #toValues({ labels, counts, sum }: Child): MetricValueWithName<string>[] {
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
      count += counts[index] ?? 0;
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
