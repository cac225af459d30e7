import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricsRegistry } from './registry.ts';

/** How often the event loop is looked at, ms. */
const resolutionMs = 20;

/** The metrics that every process has. */
export class ProcessMetrics {
  readonly #cells: MetricsRegistry;
  readonly #kind: 'primary' | 'front_end';
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs });

  constructor(cells: MetricsRegistry, kind: 'primary' | 'front_end') {
    this.#cells = cells;
    this.#kind = kind;
    this.#delay.enable();
  }

  /** Brings the cells up to date. To be called every second. */
  collect(): void {
    const cells = this.#cells;
    const kind = this.#kind;
    const { user, system } = process.cpuUsage();
    cells.counter('cpu', kind).value = (user + system) / 1e6;
    cells.gauge('residentMemory', kind).value = process.memoryUsage.rss();
    // The measured values are the times between two looks.
    const delayMs = Math.max(0, this.#delay.max / 1e6 - resolutionMs);
    if (this.#delay.count > 0) cells.histogram('eventLoopDelay', kind).observe(delayMs / 1_000);
    this.#delay.reset();
  }
}
