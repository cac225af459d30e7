import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import {
  type LabelsOf,
  type Metric,
  type MetricOf,
  type ServiceMetric,
  serviceMetrics,
} from './metrics.ts';

/** A process's values, for other processes. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export const expositionType = Registry.PROMETHEUS_CONTENT_TYPE;

/** A process's metrics. Values exist after their first use. */
export class MetricsRegistry {
  readonly #registry = new Registry();
  readonly #counters = new Map<ServiceMetric, Counter>();
  readonly #gauges = new Map<ServiceMetric, Gauge>();
  readonly #histograms = new Map<ServiceMetric, CachedHistogram>();

  constructor() {
    for (const [key, metric] of Object.entries(serviceMetrics)) {
      this.#add(key as ServiceMetric, metric);
    }
  }

  increment<N extends MetricOf<'counter'>>(name: N, ...labels: LabelsOf<N>): void {
    this.#counters.get(name)?.inc(toLabels(name, labels));
  }

  /** Sets a counter to a total counted elsewhere. */
  setTotal<N extends MetricOf<'counter'>>(name: N, total: number, ...labels: LabelsOf<N>): void {
    this.#setTotal(name, total, labels);
  }

  /** Sets a counter with one label to totals by label value; `sameBytes` sets `same_bytes`. */
  setTotals(name: MetricOf<'counter'>, totals: Readonly<Record<string, number>>): void {
    for (const [key, total] of Object.entries(totals)) {
      this.#setTotal(name, total, [key.replaceAll(/[A-Z]/g, (a) => `_${a.toLowerCase()}`)]);
    }
  }

  #setTotal(name: MetricOf<'counter'>, total: number, labels: readonly string[]): void {
    const values = toLabels(name, labels);
    this.#counters.get(name)?.remove(values);
    this.#counters.get(name)?.inc(values, total);
  }

  set<N extends MetricOf<'gauge'>>(name: N, value: number, ...labels: LabelsOf<N>): void {
    this.#gauges.get(name)?.set(toLabels(name, labels), value);
  }

  histogram<N extends MetricOf<'histogram'>>(name: N, ...labels: LabelsOf<N>): HistogramChild {
    return (this.#histograms.get(name) as CachedHistogram).child(toLabels(name, labels));
  }

  /** Removes all values of a counter. */
  reset(name: MetricOf<'counter'>): void {
    this.#counters.get(name)?.reset();
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  #add(key: ServiceMetric, metric: Metric): void {
    const { name, help, labels: labelNames, aggregation: aggregator = 'sum' } = metric;
    if (metric.type === 'histogram') {
      const histogram = new CachedHistogram(metric);
      this.#histograms.set(key, histogram);
      this.#registry.registerMetric(histogram as unknown as Counter);
      return;
    }
    const options = { name, help, labelNames, aggregator, registers: [this.#registry] };
    const created = metric.type === 'counter' ? new Counter(options) : new Gauge(options);
    // A metric that lacks labels starts at 0, which would become the minimum of all processes.
    if (labelNames.length === 0) created.remove();
    if (created instanceof Counter) this.#counters.set(key, created);
    else this.#gauges.set(key, created);
  }
}

/** Returns the metrics of several processes together. */
export const aggregate = (snapshots: readonly MetricsSnapshot[]): Registry =>
  AggregatorRegistry.aggregate([...snapshots]);

const toLabels = (name: ServiceMetric, values: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    serviceMetrics[name].labels.map((label, index) => [label, values[index] ?? '']),
  );

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
class CachedHistogram {
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
