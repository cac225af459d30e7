import type { Engine } from '../pool/engine.ts';
import type { OnCommand } from '../store/client.ts';
import type { App } from './http/app.ts';
import type { HttpRequest } from './http/request.ts';
import type { Delivery } from './image/deliver.ts';
import type { ProjectCache } from './project-cache.ts';
import { ProcessMetrics } from './telemetry/process-metrics.ts';
import { MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';
import { RequestMetrics } from './telemetry/request-metrics.ts';

type EngineStats = ReturnType<Engine['stats']>;

/** The parts of a front end that have figures of their own. */
export interface FrontEndParts {
  readonly engine: Engine;
  readonly delivery: Delivery;
  readonly projects: ProjectCache;
  readonly app: App;
  readonly storeAvailable: () => boolean;
}

/** The metrics of a front end, which it reports to the primary. */
export class FrontEndMetrics {
  readonly registry = new MetricsRegistry();
  readonly #requests = new RequestMetrics(this.registry);
  readonly #process = new ProcessMetrics(this.registry, 'front_end');

  /** To be called at the end of every request. */
  ended({ route, tier }: HttpRequest, status: number | null, ms: number): void {
    this.#requests.ended(route, tier, status, ms);
  }

  /** To be called for every command that the store has answered, or failed. */
  readonly onCommand: OnCommand = (command, ms, ok) =>
    this.registry.histogram('storeLatency', command, ok ? 'ok' : 'error').observe(ms / 1_000);

  /** To be called when the HTTP server listens. */
  listens(httpEngine: 'uws' | 'node'): void {
    this.registry.gauge('info', process.version, httpEngine).value = 1;
  }

  /** All metrics now. To be called every second. */
  snapshot(parts: FrontEndParts): MetricsSnapshot {
    this.#requests.collect();
    this.#process.collect();
    const engine = parts.engine.stats();
    this.#collect(parts, engine);
    this.#collectCaches(parts, engine);
    return this.registry.snapshot();
  }

  #collect({ projects, app, storeAvailable }: FrontEndParts, engine: EngineStats): void {
    const { registry: cells } = this;
    const { transforms, sources, refusals } = engine;
    cells.gauge('requestsOpen').value = app.open;
    cells.counter('refusals', 'misses').value = refusals.misses;
    cells.counter('refusals', 'queue').value = refusals.queue;
    cells.counter('refusals', 'fetches').value = refusals.fetches;
    cells.counter('refusals', 'held_bytes').value = refusals.heldBytes;
    cells.counter('followers', 'process').value = engine.followers.process;
    cells.counter('followers', 'machine').value = engine.followers.machine;
    cells.counter('followers', 'source').value = sources.followers;
    cells.gauge('misses').value = engine.misses;
    cells.gauge('transforms').value = transforms.active;
    cells.gauge('transformSlots').value = transforms.concurrency;
    cells.gauge('transformsQueued', 'live').value = transforms.queued;
    cells.gauge('transformsQueued', 'background').value = transforms.backgroundQueued;
    cells.gauge('transformQueueLimit').value = transforms.maxQueue;
    cells.gauge('transformMemory').value = transforms.costlyBytes;
    cells.gauge('transformMemoryLimit').value = transforms.costlyMaxBytes;
    cells.gauge('transformStalled').value = transforms.stalledMs / 1_000;
    cells.gauge('threadsStuck').value = transforms.stuck;
    cells.counter('threadsReplaced').value = transforms.threadsReplaced;
    cells.gauge('fetches').value = sources.fetching;
    cells.gauge('fetchSlots').value = sources.concurrency;
    cells.gauge('sourceConnections').value = sources.connections;
    cells.gauge('heldBytes').value = sources.heldBytes;
    cells.gauge('heldLimit').value = sources.heldMaxBytes;
    cells.gauge('storeAvailable').value = storeAvailable() ? 1 : 0;
    cells.gauge('knownProjects').value = projects.knowledge.count;
  }

  #collectCaches({ delivery }: FrontEndParts, { memory, sources }: EngineStats): void {
    const { registry: cells } = this;
    cells.gauge('cacheBytes', 'memory').value = memory.bytes;
    cells.gauge('cacheLimit', 'memory').value = memory.maxBytes;
    cells.gauge('cacheEntries', 'memory').value = memory.count;
    cells.counter('cacheEvictions', 'memory').value = memory.evictions;
    cells.gauge('cacheBytes', 'source').value = sources.cacheBytes;
    cells.gauge('cacheEntries', 'source').value = sources.cacheEntries;
    cells.gauge('cacheBytes', 'response').value = delivery.responses.bytes;
    cells.gauge('cacheEntries', 'response').value = delivery.responses.count;
  }
}
