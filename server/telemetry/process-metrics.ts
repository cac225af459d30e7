import { monitorEventLoopDelay } from 'node:perf_hooks';
import { residentMemory } from '../../pool/execution/process/resident-memory.ts';
import type { MetricsRegistry } from './registry.ts';

/** Sampling interval of the event loop's delay. */
const resolutionMs = 20;

export class ProcessMetrics {
  readonly #registry: MetricsRegistry;
  readonly #kind: 'primary' | 'front_end';
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs });

  constructor(registry: MetricsRegistry, kind: 'primary' | 'front_end') {
    this.#registry = registry;
    this.#kind = kind;
    this.#delay.enable();
  }

  /** Updates the registry. Call it every second. */
  collect(): void {
    const registry = this.#registry;
    const kind = this.#kind;
    const { user, system } = process.cpuUsage();
    registry.setTotal('cpu', (user + system) / 1e6, kind);
    registry.set('residentMemory', residentMemory(), kind);
    // The values include the sampling interval.
    const delayMs = Math.max(0, this.#delay.max / 1e6 - resolutionMs);
    if (this.#delay.count > 0) registry.histogram('eventLoopDelay', kind).observe(delayMs / 1_000);
    this.#delay.reset();
  }
}
