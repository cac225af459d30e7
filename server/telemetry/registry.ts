import {
  type LabelsOf,
  type Metric,
  type MetricOf,
  type ServiceMetric,
  serviceMetrics,
} from './metrics.ts';

/** The value of a counter or a gauge with certain labels: a plain number, so that counting is cheap. */
export interface MetricValue {
  value: number;
}

/** A histogram with certain labels: the count of each bucket, of those above all, and the sum. */
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

/** The values of a process by metric and labels, as they are sent between processes. */
export type MetricsSnapshot = {
  [N in ServiceMetric]?: Readonly<Record<string, number | readonly number[]>>;
};

/** Between the values of labels in a snapshot's keys; no label has it. */
const separator = '\u001f';
export const joinLabels = (labels: readonly string[]): string => labels.join(separator);
export const splitLabels = (key: string): string[] => key.split(separator);

/** The metrics of one process. */
export class MetricsRegistry {
  readonly #cells = new Map<ServiceMetric, Map<string, MetricValue>>();
  readonly #histograms = new Map<ServiceMetric, Map<string, Histogram>>();

  /** The cell of a counter; keep it where counting has to be cheap. */
  counter<N extends MetricOf<'counter'>>(name: N, ...labels: LabelsOf<N>): MetricValue {
    return this.#cell(name, labels);
  }

  gauge<N extends MetricOf<'gauge'>>(name: N, ...labels: LabelsOf<N>): MetricValue {
    return this.#cell(name, labels);
  }

  histogram<N extends MetricOf<'histogram'>>(name: N, ...labels: LabelsOf<N>): Histogram {
    const { buckets = [] }: Metric = serviceMetrics[name];
    return cellIn(this.#histograms, name, labels, () => new Histogram(buckets));
  }

  snapshot(): MetricsSnapshot {
    const snapshot: MetricsSnapshot = {};
    for (const [name, cells] of this.#cells) {
      snapshot[name] = Object.fromEntries([...cells].map(([key, { value }]) => [key, value]));
    }
    for (const [name, cells] of this.#histograms) {
      snapshot[name] = Object.fromEntries([...cells].map(([key, { values }]) => [key, values]));
    }
    return snapshot;
  }

  #cell(name: ServiceMetric, labels: readonly string[]): MetricValue {
    return cellIn(this.#cells, name, labels, () => ({ value: 0 }));
  }
}

function cellIn<C>(
  all: Map<ServiceMetric, Map<string, C>>,
  name: ServiceMetric,
  labels: readonly string[],
  create: () => C,
): C {
  const cells = all.get(name) ?? new Map<string, C>();
  all.set(name, cells);
  const key = joinLabels(labels);
  const cell = cells.get(key) ?? create();
  cells.set(key, cell);
  return cell;
}
