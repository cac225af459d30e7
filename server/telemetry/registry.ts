import {
  type LabelsOf,
  type Metric,
  type MetricOf,
  type ServiceMetric,
  serviceMetrics,
} from './metrics.ts';

/** The value of a counter or a gauge with certain labels. A plain number, because counting must be cheap. */
interface MetricValue {
  value: number;
}

/** A histogram with certain labels. `values`: the count of each bucket, the count above all bounds, the sum. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly values: number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.values = new Array<number>(bounds.length + 2).fill(0);
  }

  observe(seconds: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket += 1;
    (this.values[bucket] as number) += 1;
    (this.values[bounds.length + 1] as number) += seconds;
  }
}

/** The values of a process by metric and joined labels, for other processes. */
export type MetricsSnapshot = {
  [N in ServiceMetric]?: Readonly<Record<string, number | readonly number[]>>;
};

/** Separates the label values in a snapshot's keys; no label contains it. */
const separator = '\u001f';
export const joinLabels = (labels: readonly string[]): string => labels.join(separator);
export const splitLabels = (key: string): string[] => key.split(separator);

/** The metrics of one process. */
export class MetricsRegistry {
  readonly #values = new Map<ServiceMetric, Map<string, MetricValue>>();
  readonly #histograms = new Map<ServiceMetric, Map<string, Histogram>>();

  /** The value of a counter. Keep the reference where counting must be cheap. */
  counter<N extends MetricOf<'counter'>>(name: N, ...labels: LabelsOf<N>): MetricValue {
    return this.#value(name, labels);
  }

  gauge<N extends MetricOf<'gauge'>>(name: N, ...labels: LabelsOf<N>): MetricValue {
    return this.#value(name, labels);
  }

  histogram<N extends MetricOf<'histogram'>>(name: N, ...labels: LabelsOf<N>): Histogram {
    const { buckets = [] }: Metric = serviceMetrics[name];
    return entryOf(this.#histograms, name, labels, () => new Histogram(buckets));
  }

  snapshot(): MetricsSnapshot {
    const snapshot: MetricsSnapshot = {};
    for (const [name, entries] of this.#values) {
      snapshot[name] = Object.fromEntries([...entries].map(([key, { value }]) => [key, value]));
    }
    for (const [name, entries] of this.#histograms) {
      snapshot[name] = Object.fromEntries([...entries].map(([key, { values }]) => [key, values]));
    }
    return snapshot;
  }

  #value(name: ServiceMetric, labels: readonly string[]): MetricValue {
    return entryOf(this.#values, name, labels, () => ({ value: 0 }));
  }
}

function entryOf<T>(
  all: Map<ServiceMetric, Map<string, T>>,
  name: ServiceMetric,
  labels: readonly string[],
  create: () => T,
): T {
  const entries = all.get(name) ?? new Map<string, T>();
  all.set(name, entries);
  const key = joinLabels(labels);
  const entry = entries.get(key) ?? create();
  entries.set(key, entry);
  return entry;
}
