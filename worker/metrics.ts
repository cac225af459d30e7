import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobQueue } from '../store/jobs.ts';

/** Without those of Node.js itself, which prom-client adds. */
export const workerMetrics = {
  jobDuration: {
    name: 'prewarm_job_duration_seconds',
    type: 'histogram',
    help: 'How long prewarm jobs ran, by outcome (done, failed).',
    labels: ['outcome'],
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
  },
  jobFailures: {
    name: 'prewarm_job_failures_total',
    type: 'counter',
    help: 'Runs of prewarm jobs that failed.',
    labels: [],
  },
  queueJobs: {
    name: 'prewarm_queue_jobs',
    type: 'gauge',
    help: 'Prewarm jobs by state (active, waiting, delayed, failed).',
    labels: ['state'],
  },
  webhooks: {
    name: 'webhook_requests_total',
    type: 'counter',
    help: 'Requests to the purge hook and to the callback URLs of clients, by outcome (done, failed).',
    labels: ['outcome'],
  },
} as const;

/** Gauges with the suffix of counters, which `promtool check metrics` rejects. They are sums of others. */
const misnamed = ['handles', 'requests', 'resources'].map((of) => `nodejs_active_${of}_total`);

export class WorkerMetrics {
  readonly registry = new Registry();
  readonly #durations: Histogram<'outcome'>;
  readonly #failures: Counter;
  readonly #webhooks: Counter<'outcome'>;
  #finished = 0;
  #totalMs = 0;

  /** @param queue returns null until the store is connected */
  constructor(queue: () => JobQueue | null) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    for (const name of misnamed) this.registry.removeSingleMetric(name);
    const { jobDuration, jobFailures, queueJobs, webhooks } = workerMetrics;
    this.#durations = new Histogram({
      name: jobDuration.name,
      help: jobDuration.help,
      labelNames: jobDuration.labels,
      buckets: [...jobDuration.buckets],
      registers,
    });
    this.#failures = new Counter({ name: jobFailures.name, help: jobFailures.help, registers });
    this.#webhooks = new Counter({
      name: webhooks.name,
      help: webhooks.help,
      labelNames: webhooks.labels,
      registers,
    });
    new Gauge({
      name: queueJobs.name,
      help: queueJobs.help,
      labelNames: queueJobs.labels,
      registers,
      async collect() {
        this.reset();
        // The other metrics are also returned while the store is unavailable.
        const stats = await queue()
          ?.stats()
          .catch(() => undefined);
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

  webhookEnded(outcome: 'done' | 'failed'): void {
    this.#webhooks.inc({ outcome });
  }

  /** Mean run time of this worker's jobs, ms; null before the first. */
  get averageRunMs(): number | null {
    return this.#finished === 0 ? null : Math.round(this.#totalMs / this.#finished);
  }
}
