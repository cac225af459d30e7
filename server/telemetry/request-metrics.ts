import { type Tier, tiers } from '../usage/request-counts.ts';
import type { HistogramChild } from './cached-histogram.ts';
import type { MetricsRegistry } from './registry.ts';

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
  readonly duration: HistogramChild;
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

  /** Updates the registry. */
  collect(): void {
    for (const route of routeNames) {
      for (const tier of tiers) {
        this.#counts[route][tier]?.statuses.forEach((count, status) => {
          if (count === 0) return;
          this.#registry.setTotal('requests', count, route, String(status), tier);
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
