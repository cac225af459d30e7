import { version } from '../contract/version.ts';
import type { OnCommand } from '../store/client.ts';
import type { FrontEndStats } from './cluster/channel.ts';
import type { Connections } from './http/connection-limit.ts';
import type { HttpRequest } from './http/request.ts';
import { ProcessMetrics } from './telemetry/process-metrics.ts';
import { MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';
import { RequestMetrics } from './telemetry/request-metrics.ts';

/** The current figures of a front end. */
interface FrontEndFigures {
  readonly engine: FrontEndStats;
  readonly responses: { readonly bytes: number; readonly count: number };
  readonly knownProjects: number;
  readonly openRequests: number;
  /** Null before the server listens. */
  readonly connections: Connections | null;
  readonly storeAvailable: boolean;
}

/** The metrics of a front end, which it reports to the primary. */
export class FrontEndMetrics {
  readonly registry = new MetricsRegistry();
  readonly #requests = new RequestMetrics(this.registry);
  readonly #process = new ProcessMetrics(this.registry, 'front_end');

  /** Call it at the end of every request. */
  ended({ route, tier }: HttpRequest, status: number | null, ms: number): void {
    this.#requests.ended(route, tier, status, ms);
  }

  /** Call it for every command that the store has answered or failed. */
  readonly onCommand: OnCommand = (command, ms, ok) =>
    this.registry.histogram('storeLatency', command, ok ? 'ok' : 'error').observe(ms / 1_000);

  /** Call it when the HTTP server listens. */
  listens(httpServer: 'uws' | 'node'): void {
    this.registry.gauge('info', version, process.version, httpServer).value = 1;
  }

  /** All metrics. Call it every second. */
  snapshot(figures: FrontEndFigures): MetricsSnapshot {
    this.#requests.collect();
    this.#process.collect();
    this.#collect(figures);
    return this.registry.snapshot();
  }

  #collect({ engine, responses, ...figures }: FrontEndFigures): void {
    const { registry } = this;
    const { memory, transforms, sources, refusals, followers, revalidations } = engine;
    registry.gauge('requestsOpen').value = figures.openRequests;
    registry.gauge('storeAvailable').value = figures.storeAvailable ? 1 : 0;
    registry.gauge('knownProjects').value = figures.knownProjects;
    registry.counter('refusals', 'misses').value = refusals.misses;
    registry.counter('refusals', 'queue').value = refusals.queue;
    registry.counter('refusals', 'fetches').value = refusals.fetches;
    registry.counter('refusals', 'held_bytes').value = refusals.heldBytes;
    registry.counter('followers', 'process').value = followers.process;
    registry.counter('followers', 'machine').value = followers.machine;
    registry.counter('followers', 'source').value = sources.followers;
    registry.counter('revalidations', 'not_modified').value = revalidations.notModified;
    registry.counter('revalidations', 'same_bytes').value = revalidations.sameBytes;
    registry.counter('revalidations', 'changed').value = revalidations.changed;
    registry.counter('revalidations', 'gone').value = revalidations.gone;
    registry.counter('revalidations', 'failed').value = revalidations.failed;
    registry.gauge('misses').value = engine.misses;
    registry.gauge('transforms').value = transforms.active;
    registry.gauge('transformSlots').value = transforms.concurrency;
    registry.gauge('transformsQueued', 'live').value = transforms.queued;
    registry.gauge('transformsQueued', 'background').value = transforms.backgroundQueued;
    registry.gauge('transformQueueLimit').value = transforms.maxQueue;
    registry.gauge('transformMemory').value = transforms.costlyBytes;
    registry.gauge('transformMemoryLimit').value = transforms.costlyMaxBytes;
    registry.gauge('transformStalled').value = transforms.stalledMs / 1_000;
    registry.gauge('threadsStuck').value = transforms.stuck;
    registry.counter('threadsReplaced').value = transforms.threadsReplaced;
    registry.gauge('fetches').value = sources.fetching;
    registry.gauge('fetchSlots').value = sources.concurrency;
    registry.gauge('sourceConnections').value = sources.connections;
    registry.gauge('heldBytes').value = sources.heldBytes;
    registry.gauge('heldLimit').value = sources.heldMaxBytes;
    registry.gauge('cacheBytes', 'memory').value = memory.bytes;
    registry.gauge('cacheLimit', 'memory').value = memory.maxBytes;
    registry.gauge('cacheEntries', 'memory').value = memory.count;
    registry.counter('cacheEvictions', 'memory').value = memory.evictions;
    registry.gauge('cacheBytes', 'source').value = sources.cacheBytes;
    registry.gauge('cacheEntries', 'source').value = sources.cacheEntries;
    registry.gauge('cacheBytes', 'response').value = responses.bytes;
    registry.gauge('cacheEntries', 'response').value = responses.count;
    if (engine.shared !== null) this.#collectShared(engine.shared);
    if (figures.connections !== null) this.#collectConnections(figures.connections);
  }

  #collectConnections({ open, limit, closedWaiting, refused }: Connections): void {
    const { registry } = this;
    registry.gauge('connections').value = open;
    registry.gauge('connectionLimit').value = limit;
    registry.counter('connectionsClosed', 'waiting').value = closedWaiting;
    registry.counter('connectionsClosed', 'refused').value = refused;
  }

  #collectShared(shared: NonNullable<FrontEndStats['shared']>): void {
    const { registry } = this;
    const { reads, writes, available } = shared;
    registry.counter('sharedReads', 'hit').value = reads.hit;
    registry.counter('sharedReads', 'miss').value = reads.miss;
    registry.counter('sharedReads', 'damaged').value = reads.damaged;
    registry.counter('sharedReads', 'timeout').value = reads.timeout;
    registry.counter('sharedReads', 'error').value = reads.error;
    registry.counter('sharedReads', 'skipped').value = reads.skipped;
    registry.counter('sharedWrites', 'stored').value = writes.stored;
    registry.counter('sharedWrites', 'failed').value = writes.failed;
    registry.counter('sharedWrites', 'dropped').value = writes.dropped;
    registry.counter('sharedDropped').value = shared.droppedBytes;
    registry.gauge('sharedQueue').value = shared.queuedBytes;
    registry.gauge('sharedAvailable', 'read').value = available.read ? 1 : 0;
    registry.gauge('sharedAvailable', 'write').value = available.write ? 1 : 0;
  }
}
