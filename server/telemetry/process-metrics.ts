import { monitorEventLoopDelay } from 'node:perf_hooks';
import { residentMemory } from '../../pool/execution/process/resident-memory.ts';
import { type Tier, tiers } from '../usage/request-counts.ts';
import type { HistogramSeries, MetricsRegistry } from './registry.ts';

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
    registry.set('cpu', (user + system) / 1e6, kind);
    registry.set('residentMemory', residentMemory(), kind);
    // The values include the sampling interval.
    const delayMs = Math.max(0, this.#delay.max / 1e6 - resolutionMs);
    if (this.#delay.count > 0) registry.histogram('eventLoopDelay', kind).observe(delayMs / 1_000);
    this.#delay.reset();
  }
}

const routeNames = ['image', 'control', 'health', 'openapi', 'console', 'other'] as const;
export type RouteName = (typeof routeNames)[number];

/** nginx's status for a client that disconnected before the response. */
const clientClosedRequest = 499;
const statusLimit = 600;

interface EndedRequest {
  readonly route: RouteName;
  readonly tier: Tier;
}

interface Counts {
  /** By status. */
  readonly statuses: Float64Array;
  readonly duration: HistogramSeries;
}

/** Counts every request when it ends, hits included. A count takes a few additions and no look-up by a text. */
export class RequestMetrics {
  readonly #registry: MetricsRegistry;
  readonly #counts = Object.fromEntries(routeNames.map((name) => [name, {}])) as Readonly<
    Record<RouteName, Partial<Record<Tier, Counts>>>
  >;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
  }

  /** @param status null when the client disconnected before the response */
  ended({ route, tier }: EndedRequest, status: number | null, ms: number): void {
    const counts = this.#counts[route][tier] ?? this.#add(route, tier);
    (counts.statuses[status ?? clientClosedRequest] as number) += 1;
    counts.duration.observe(ms / 1_000);
  }

  collect(): void {
    for (const route of routeNames) {
      for (const tier of tiers) {
        this.#counts[route][tier]?.statuses.forEach((count, status) => {
          if (count === 0) return;
          this.#registry.set('requests', count, route, String(status), tier);
        });
      }
    }
  }

  #add(route: RouteName, tier: Tier): Counts {
    const duration = this.#registry.histogram('requestDuration', route, tier);
    const counts = { statuses: new Float64Array(statusLimit), duration };
    this.#counts[route][tier] = counts;
    return counts;
  }
}
