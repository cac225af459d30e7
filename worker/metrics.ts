import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobQueue } from '../store/jobs.ts';
import { callbackJobName, jobNames, purgeHookJobName } from '../store/jobs.ts';

/** The worker's metrics, except the Node.js metrics that prom-client adds. */
export const workerMetrics = {
  jobDuration: {
    name: 'prewarm_job_duration_seconds',
    type: 'histogram',
    help: 'Duration of prewarm jobs, by outcome (done, failed).',
    labels: ['outcome'],
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
  },
  jobFailures: {
    name: 'prewarm_job_failures_total',
    type: 'counter',
    help: 'Failed prewarm job runs.',
    labels: [],
  },
  queueJobs: {
    name: 'prewarm_queue_jobs',
    type: 'gauge',
    help: 'Prewarm jobs by state (active, waiting, delayed, failed).',
    labels: ['state'],
  },
  oldestWaiting: {
    name: 'job_queue_oldest_waiting_seconds',
    type: 'gauge',
    help: 'Waiting time of the oldest due job, by kind (prewarm, purge_hook, callback).',
    labels: ['kind'],
  },
  webhooks: {
    name: 'webhook_requests_total',
    type: 'counter',
    help: "Requests to the purge hook and to clients' callback URLs, by kind (purge_hook, callback) and outcome (done, failed).",
    labels: ['kind', 'outcome'],
  },
} as const;

interface Row<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** Returns a job's kind as a label value. */
const toKind = (jobName: string): string => jobName.replace(' ', '_');

/** Gauges with the suffix of counters, which `promtool check metrics` rejects. They are sums of others. */
const misnamed = ['handles', 'requests', 'resources'].map((of) => `nodejs_active_${of}_total`);

export class WorkerMetrics {
  readonly registry = new Registry();
  readonly #durations: Histogram<'outcome'>;
  readonly #failures: Counter;
  readonly #webhooks: Counter<'kind' | 'outcome'>;
  #finished = 0;
  #totalMs = 0;

  /** @param queue returns null until the store connects */
  constructor(queue: () => JobQueue | null) {
    collectDefaultMetrics({ register: this.registry });
    for (const name of misnamed) this.registry.removeSingleMetric(name);
    const { jobDuration, jobFailures, queueJobs, oldestWaiting, webhooks } = workerMetrics;
    const configure = <L extends string>({ name, help, labels }: Row<L>) => ({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
    });
    this.#durations = new Histogram({
      ...configure(jobDuration),
      buckets: [...jobDuration.buckets],
    });
    this.#failures = new Counter(configure(jobFailures));
    this.#webhooks = new Counter(configure(webhooks));
    for (const jobName of [purgeHookJobName, callbackJobName]) {
      // A rate counts the first request only if the counter exists beforehand.
      for (const outcome of ['done', 'failed'] as const) {
        this.#webhooks.inc({ kind: toKind(jobName), outcome }, 0);
      }
    }
    new Gauge({
      ...configure(oldestWaiting),
      async collect() {
        const waits = new Map<string, number>();
        for (const jobName of jobNames) {
          const stats = await queue()
            ?.stats(jobName)
            .catch(() => undefined);
          if (stats === undefined) break;
          waits.set(toKind(jobName), stats.oldestWaitingMs / 1_000);
        }
        // Without a pause, because another scrape also resets the values.
        this.reset();
        for (const [kind, seconds] of waits) this.set({ kind }, seconds);
      },
    });
    new Gauge({
      ...configure(queueJobs),
      async collect() {
        // The other metrics remain available during a store outage.
        const stats = await queue()
          ?.stats()
          .catch(() => undefined);
        this.reset();
        if (stats === undefined) return;
        for (const state of ['active', 'waiting', 'delayed', 'failed'] as const) {
          this.set({ state }, stats[state]);
        }
      },
    });
  }

  finished(outcome: 'done' | 'failed', ms: number): void {
    this.#finished += 1;
    this.#totalMs += ms;
    this.#durations.observe({ outcome }, ms / 1_000);
    if (outcome === 'failed') this.#failures.inc();
  }

  webhookEnded(jobName: string, outcome: 'done' | 'failed'): void {
    this.#webhooks.inc({ kind: toKind(jobName), outcome });
  }

  /** Mean run time of this worker's jobs, ms; null before the first. */
  get averageRunMs(): number | null {
    return this.#finished === 0 ? null : Math.round(this.#totalMs / this.#finished);
  }
}
