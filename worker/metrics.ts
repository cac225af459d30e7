import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobQueue } from '../store/jobs.ts';

/** The worker's metrics, for Prometheus and `/health/details`. */
export class WorkerMetrics {
  readonly registry = new Registry();
  readonly #durations: Histogram<'outcome'>;
  readonly #failures: Counter;
  #finished = 0;
  #totalMs = 0;

  /** @param queue returns null until the store is connected */
  constructor(queue: () => JobQueue | null) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#durations = new Histogram({
      name: 'prewarm_job_duration_seconds',
      help: 'How long prewarm jobs ran',
      labelNames: ['outcome'],
      buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    });
    this.#failures = new Counter({
      name: 'prewarm_job_failures_total',
      help: 'Runs of prewarm jobs that failed',
      registers,
    });
    new Gauge({
      name: 'prewarm_queue_jobs',
      help: 'Prewarm jobs by state',
      labelNames: ['state'],
      registers,
      async collect() {
        this.reset();
        // While the store is unavailable, the other metrics are still returned.
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

  /** Of the jobs that this worker ran, ms; null before the first. */
  get averageRunMs(): number | null {
    return this.#finished === 0 ? null : Math.round(this.#totalMs / this.#finished);
  }
}
