import { type Tier, tiers } from './busiest-projects.ts';
import type { Histogram, MetricsRegistry } from './registry.ts';

export const routeNames = ['image', 'control', 'health', 'openapi', 'console', 'other'] as const;
export type RouteName = (typeof routeNames)[number];

/** nginx's status for a client that left before the response. */
const left = 499;
const beyondStatuses = 600;

interface Counts {
  /** By status. */
  readonly statuses: Float64Array;
  readonly duration: Histogram;
}

/** Counts every request at its end, hits included: a few additions, and no look-up by text. */
export class RequestMetrics {
  readonly #cells: MetricsRegistry;
  readonly #counts: Readonly<Record<RouteName, Partial<Record<Tier, Counts>>>> = {
    image: {},
    control: {},
    health: {},
    openapi: {},
    console: {},
    other: {},
  };

  constructor(cells: MetricsRegistry) {
    this.#cells = cells;
  }

  /** @param status null when the client left before the response */
  ended(route: RouteName, tier: Tier, status: number | null, ms: number): void {
    const counts = this.#counts[route][tier] ?? this.#add(route, tier);
    (counts.statuses[status ?? left] as number) += 1;
    counts.duration.observe(ms / 1_000);
  }

  /** Brings the cells up to date. */
  collect(): void {
    for (const route of routeNames) {
      for (const tier of tiers) {
        this.#counts[route][tier]?.statuses.forEach((count, status) => {
          if (count === 0) return;
          this.#cells.counter('requests', route, String(status), tier).value = count;
        });
      }
    }
  }

  #add(route: RouteName, tier: Tier): Counts {
    const duration = this.#cells.histogram('requestDuration', route, tier);
    const counts = { statuses: new Float64Array(beyondStatuses), duration };
    this.#counts[route][tier] = counts;
    return counts;
  }
}
