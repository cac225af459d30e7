import type { WorkerState } from '../store/heartbeat.ts';
import type { DiskCacheIndex } from './cluster/disk-cache-index.ts';
import type { Supervisor } from './cluster/supervisor.ts';
import type { Sweep } from './cluster/sweep.ts';
import { BusiestProjects } from './telemetry/busiest-projects.ts';
import { ProcessMetrics } from './telemetry/process-metrics.ts';
import { MetricSums, MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';
import { tiers } from './usage/request-counts.ts';
import type { ProjectCounts } from './usage/usage-totals.ts';

interface PrimaryParts {
  readonly supervisor: Pick<Supervisor, 'listening' | 'restarts'>;
  readonly processes: number;
  readonly disk: Pick<DiskCacheIndex, 'bytes' | 'maxBytes' | 'count' | 'evictions'>;
  /** Null until there is one. */
  readonly sweep: () => Sweep['totals'] | null;
  readonly hasSharedCache: boolean;
  readonly diskFull: () => boolean;
}

const collectEveryMs = 1_000;
const reassignEveryMs = 60_000;
const findWorkerEveryMs = 5_000;

/** The metrics of the machine: the sums of the front ends, and the primary's own. */
export class PrimaryMetrics {
  readonly #parts: PrimaryParts;
  readonly #registry = new MetricsRegistry();
  readonly #process = new ProcessMetrics(this.#registry, 'primary');
  readonly #frontEnds = new MetricSums();
  readonly #projects = new BusiestProjects();

  constructor(parts: PrimaryParts) {
    this.#parts = parts;
  }

  start(): void {
    setInterval(() => this.#process.collect(), collectEveryMs).unref();
    setInterval(() => this.#projects.reassign(), reassignEveryMs).unref();
  }

  /** @param find looks for a worker in the store; the last result stays while it rejects */
  watchWorker(find: () => Promise<WorkerState>): void {
    const look = () =>
      find().then(
        ({ isMissing }) => {
          this.#registry.set('workerSeen', isMissing ? 0 : 1);
        },
        () => {},
      );
    setInterval(() => void look(), findWorkerEveryMs).unref();
    void look();
  }

  /** @param projects the front end's requests since its last report */
  report(frontEnd: number, metrics: MetricsSnapshot, projects: ProjectCounts): void {
    this.#frontEnds.report(frontEnd, metrics);
    this.#projects.add(projects);
  }

  end(frontEnd: number): void {
    this.#frontEnds.end(frontEnd);
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    const { supervisor, processes, disk, sweep, hasSharedCache, diskFull } = this.#parts;
    const registry = this.#registry;
    registry.set('frontEnds', supervisor.listening);
    registry.set('frontEndsWanted', processes);
    registry.setTotals('restarts', supervisor.restarts);
    registry.set('cacheBytes', disk.bytes, 'disk');
    registry.set('cacheLimit', disk.maxBytes, 'disk');
    registry.set('cacheEntries', disk.count, 'disk');
    registry.set('cacheEvictions', disk.evictions, 'disk');
    const swept = sweep();
    registry.set('purges', swept?.purges ?? 0);
    registry.set('purgedImages', swept?.images ?? 0);
    if (hasSharedCache) {
      const { objects: deleted, failed } = swept ?? { objects: 0, failed: 0 };
      registry.setTotals('sharedDeletions', { deleted, failed });
    }
    registry.set('diskFull', diskFull() ? 1 : 0);
    registry.reset('projectRequests');
    for (const [project, counts] of this.#projects.series()) {
      for (const tier of tiers) registry.set('projectRequests', counts[tier], project, tier);
    }
    return this.#frontEnds.total(registry.snapshot()).metrics();
  }
}
