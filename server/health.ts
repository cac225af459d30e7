import type { WorkerState } from '../store/heartbeat.ts';
import type { JobQueue } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import { withTimeout } from '../store/outage.ts';
import type { FrontEndStats, MachineStats } from './cluster/channel.ts';
import type { DiskShortage } from './cluster/disk-space.ts';
import type { HttpRequest } from './http/request.ts';
import { jsonHeaders, readableAnywhere } from './http/responses.ts';
import type { ProjectCache } from './project-cache.ts';

/** A database that does not respond within this time is unavailable. */
const databaseWithinMs = 1_500;
/** Minimum interval of the pings: monitors might call ten times a second. */
const databaseEveryMs = 500;
const queueEveryMs = 1_000;
/** The queue is backlogged when a runnable job has waited longer than this. */
const backlogAfterMs = 60_000;

interface DatabaseCheck {
  readonly ok: boolean;
  readonly latencyMs: number;
}

type Status = 'ok' | 'degraded' | 'unavailable' | 'draining';

/**
 * `starting`: the store has not responded yet, and an earlier run left no known projects.
 * `draining`: the whole service is stopping. A front end being replaced stays `ready`, because the
 * other front ends serve requests.
 */
export type Readiness = 'starting' | 'ready' | 'draining';

export interface HealthEnvironment {
  readonly store: Pick<Store, 'ping'>;
  /** Whether the store is available; health does not wait for an unavailable one. */
  readonly storeAvailable: () => boolean;
  readonly projects: Pick<ProjectCache, 'knowledge' | 'status'>;
  readonly queue: Pick<JobQueue, 'stats'>;
  readonly findWorker: () => Promise<WorkerState>;
  readonly stats: () => FrontEndStats;
  readonly machine: () => MachineStats;
  readonly readiness: () => Readiness;
  /** The source formats that this installation reads. */
  readonly sourceFormats: readonly string[];
  /** Time limit of a transform. A pool that completes no transform for longer is stuck. */
  readonly transformTimeoutMs: number;
}

const headers = [...jsonHeaders, ...readableAnywhere];

export class Health {
  readonly #environment: HealthEnvironment;
  readonly #ping = throttle(databaseEveryMs, () => this.#pingDatabase());
  readonly #count = throttle(queueEveryMs, () => this.#countJobs());
  /** The last known figures; zeros until the store has responded. */
  #lastCounts = { active: 0, waiting: 0, delayed: 0, failed: 0, queued: 0 };
  #workerSeenAt: Date | null = null;
  #lastLatencyMs = 0;

  constructor(environment: HealthEnvironment) {
    this.#environment = environment;
  }

  /**
   * `GET /api/ready`, for load balancers. Returns 200 while the store is unavailable: otherwise an
   * outage would remove all machines at once, although each can serve the images of known projects.
   */
  sendReadiness(request: HttpRequest): void {
    const status = this.#environment.readiness();
    const ready = status === 'ready';
    request.respond({
      status: ready ? 200 : 503,
      headers,
      body: JSON.stringify({ ready, status }),
    });
  }

  /** `GET /api/health`, with figures summed over the machine's front ends. */
  async sendHealth(request: HttpRequest): Promise<void> {
    const startedAt = performance.now();
    const [database, prewarmQueue] = this.#environment.storeAvailable()
      ? await Promise.all([this.#ping(), this.#count()])
      : [{ ok: false, latencyMs: this.#lastLatencyMs }, this.#queue('unknown')];
    const { diskBytes, diskMaxBytes, diskShortage } = this.#environment.machine();
    const frontEnds = this.#frontEnds();
    const total = (figure: (stats: FrontEndStats) => number): number =>
      frontEnds.reduce((sum, stats) => sum + figure(stats), 0);
    const queued = total(({ transforms }) => transforms.queued);
    const active = total(({ transforms }) => transforms.active);
    const concurrency = total(({ transforms }) => transforms.concurrency);
    const maxQueue = total(({ transforms }) => transforms.maxQueue);
    const fetching = total(({ sources }) => sources.fetching);
    const fault = this.#findFault(database, frontEnds, diskShortage);
    const [status, reason] = fault ?? (['ok', undefined] as const);
    const body = {
      ok: status === 'ok',
      service: 'image-delivery',
      status,
      reason,
      timestamp: new Date().toISOString(),
      uptimeSeconds: Math.floor(process.uptime()),
      store: database.ok ? 'available' : 'unavailable',
      checks: {
        cache: {
          diskSizeBytes: diskBytes,
          diskMaxBytes,
          memorySizeBytes: total(({ memory }) => memory.bytes),
          memoryMaxBytes: total(({ memory }) => memory.maxBytes),
          status: diskShortage === null ? 'ok' : 'disk_full',
        },
        database,
        projects: this.#projects(),
        prewarmQueue,
        transformQueue: {
          active,
          queued,
          concurrency,
          maxQueue,
          rejected: total(({ refused }) => refused),
          completed: total(({ transforms }) => transforms.completed),
          fetching,
          misses: total(({ misses }) => misses),
          stuck: total(({ transforms }) => transforms.stuck),
          status:
            queued >= maxQueue && active >= concurrency ? 'saturated' : queued > 0 ? 'busy' : 'ok',
        },
        sources: {
          fetching,
          concurrency: total(({ sources }) => sources.concurrency),
          rejected: total(({ sources }) => sources.rejected),
          heldBytes: total(({ sources }) => sources.heldBytes),
          heldMaxBytes: total(({ sources }) => sources.heldMaxBytes),
          heldRejected: total(({ sources }) => sources.heldRejected),
          formats: this.#environment.sourceFormats,
        },
      },
      latencyMs: Math.round(performance.now() - startedAt),
    };
    request.respond({ status: body.ok ? 200 : 503, headers, body: JSON.stringify(body) });
  }

  /** Returns the status of a machine that is not in order, and the reason for people, or null. */
  #findFault(
    database: DatabaseCheck,
    frontEnds: readonly FrontEndStats[],
    diskShortage: DiskShortage | null,
  ): readonly [status: Exclude<Status, 'ok'>, reason: string] | null {
    const { readiness, transformTimeoutMs } = this.#environment;
    if (readiness() === 'draining') return ['draining', 'The service is shutting down.'];
    if (!database.ok) return ['unavailable', 'The store does not respond.'];
    // One front end is enough to report the machine as degraded.
    if (frontEnds.some(({ transforms }) => transforms.stuck >= transforms.concurrency)) {
      return ['degraded', "A front end's transform threads do not terminate."];
    }
    if (frontEnds.some(({ transforms }) => transforms.stalledMs > transformTimeoutMs)) {
      return ['degraded', 'The transform threads make no progress.'];
    }
    if (diskShortage === null) return null;
    const lack = diskShortage === 'inodes' ? 'has no free inodes' : 'is full';
    return ['degraded', `The disk of the data folder ${lack}.`];
  }

  #projects(): object {
    const { knowledge, status } = this.#environment.projects;
    const { count, confirmedAt } = knowledge;
    const ageMs = Math.max(0, Date.now() - (confirmedAt ?? 0));
    const ageSeconds = confirmedAt === null ? null : Math.floor(ageMs / 1_000);
    return { known: count, ageSeconds, status };
  }

  async #countJobs(): Promise<object> {
    const { queue, findWorker } = this.#environment;
    const read = Promise.all([queue.stats(), findWorker()]);
    const found = await withTimeout(read, databaseWithinMs).catch(() => null);
    if (found === null) return this.#queue('unknown');
    const [{ oldestWaitingMs, ...counts }, worker] = found;
    this.#lastCounts = { ...counts, queued: counts.waiting + counts.delayed };
    this.#workerSeenAt = worker.seenAt;
    const isBacklogged = oldestWaitingMs > backlogAfterMs;
    return this.#queue(worker.isMissing ? 'no_worker' : isBacklogged ? 'backlogged' : 'ok');
  }

  #queue(status: 'ok' | 'no_worker' | 'backlogged' | 'unknown'): object {
    return { ...this.#lastCounts, workerSeenAt: this.#workerSeenAt, status };
  }

  async #pingDatabase(): Promise<DatabaseCheck> {
    const startedAt = performance.now();
    const ok = await this.#environment.store.ping(databaseWithinMs).then(
      () => true,
      () => false,
    );
    this.#lastLatencyMs = Math.round(performance.now() - startedAt);
    return { ok, latencyMs: this.#lastLatencyMs };
  }

  /**
   * Returns all front ends' figures: current for this process, up to a second old for the others.
   */
  #frontEnds(): readonly FrontEndStats[] {
    const { machine, stats } = this.#environment;
    return Object.values({ ...machine().frontEnds, [process.pid]: stats() });
  }
}

/** Repeats a check at most once per interval; calls in between share its result. */
function throttle<T>(intervalMs: number, check: () => Promise<T>): () => Promise<T> {
  let last: { readonly startedAt: number; readonly result: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.startedAt > intervalMs) {
      last = { startedAt: now, result: check() };
    }
    return last.result;
  };
}
