import { version } from '../contract/package.ts';
import type { OnCommand } from '../store/connection.ts';
import type { FrontEndStats } from './cluster/channel.ts';
import type { ClientConnections } from './http/connection-limit.ts';
import { ProcessMetrics, RequestMetrics } from './telemetry/process-metrics.ts';
import { MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';

interface FrontEndFigures {
  readonly engine: FrontEndStats;
  readonly responses: { readonly bytes: number; readonly count: number };
  readonly knownProjects: number;
  readonly openRequests: number;
  /** Null before the server listens. */
  readonly connections: ClientConnections | null;
  readonly storeAvailable: boolean;
}

export class FrontEndMetrics {
  readonly registry = new MetricsRegistry();
  readonly requests = new RequestMetrics(this.registry);
  readonly #process = new ProcessMetrics(this.registry, 'front_end');

  /** Call it for every completed or failed store command. */
  readonly onCommand: OnCommand = (command, ms, ok) =>
    this.registry.histogram('storeLatency', command, ok ? 'ok' : 'error').observe(ms / 1_000);

  listens(httpServer: 'uws' | 'node'): void {
    this.registry.set('info', 1, version, process.version, httpServer);
  }

  /** Returns all metrics. Call it every second. */
  snapshot(figures: FrontEndFigures): MetricsSnapshot {
    this.requests.collect();
    this.#process.collect();
    this.#collect(figures);
    return this.registry.snapshot();
  }

  #collect({ engine, responses, ...figures }: FrontEndFigures): void {
    const { registry } = this;
    const { memory, transforms, sources } = engine;
    registry.set('requestsOpen', figures.openRequests);
    registry.set('storeAvailable', figures.storeAvailable ? 1 : 0);
    registry.set('knownProjects', figures.knownProjects);
    registry.setTotals('refusals', engine.refusals);
    registry.setTotals('followers', { ...engine.followers, source: sources.followers });
    registry.setTotals('revalidations', engine.revalidations);
    registry.set('misses', engine.misses);
    registry.set('transforms', transforms.active);
    registry.set('transformSlots', transforms.concurrency);
    registry.set('transformsQueued', transforms.queued, 'live');
    registry.set('transformsQueued', transforms.backgroundQueued, 'background');
    registry.set('transformQueueLimit', transforms.maxQueue);
    registry.set('transformMemory', transforms.costlyBytes);
    registry.set('transformMemoryLimit', transforms.costlyMaxBytes);
    registry.set('transformStalled', transforms.stalledMs / 1_000);
    registry.set('threadsStuck', transforms.stuck);
    registry.set('threadsReplaced', transforms.threadsReplaced);
    registry.set('fetches', sources.fetching);
    registry.set('fetchSlots', sources.concurrency);
    registry.set('sourceConnections', sources.connections);
    registry.set('heldBytes', sources.heldBytes);
    registry.set('heldLimit', sources.heldMaxBytes);
    registry.set('cacheBytes', memory.bytes, 'memory');
    registry.set('cacheLimit', memory.maxBytes, 'memory');
    registry.set('cacheEntries', memory.count, 'memory');
    registry.set('cacheEvictions', memory.evictions, 'memory');
    registry.set('cacheBytes', sources.cacheBytes, 'source');
    registry.set('cacheEntries', sources.cacheEntries, 'source');
    registry.set('cacheBytes', responses.bytes, 'response');
    registry.set('cacheEntries', responses.count, 'response');
    if (engine.shared !== null) this.#collectShared(engine.shared);
    if (figures.connections !== null) this.#collectConnections(figures.connections);
  }

  #collectConnections({ open, limit, closedWaiting, refused }: ClientConnections): void {
    const { registry } = this;
    registry.set('connections', open);
    registry.set('connectionLimit', limit);
    registry.setTotals('connectionsClosed', { waiting: closedWaiting, refused });
  }

  #collectShared(shared: NonNullable<FrontEndStats['shared']>): void {
    const { registry } = this;
    const { reads, writes, available } = shared;
    registry.setTotals('sharedReads', reads);
    registry.setTotals('sharedWrites', writes);
    registry.set('sharedDropped', shared.droppedBytes);
    registry.set('sharedQueue', shared.queuedBytes);
    registry.set('sharedAvailable', available.read ? 1 : 0, 'read');
    registry.set('sharedAvailable', available.write ? 1 : 0, 'write');
  }
}
