import type { WorkerState } from '../store/worker-heartbeat.ts';
import type { DiskCacheIndex } from './cluster/disk-cache-index.ts';
import type { DiskPurges } from './cluster/disk-purges.ts';
import type { SharedPurges } from './cluster/shared-purges.ts';
import type { Supervisor } from './cluster/supervisor.ts';
import { BusiestProjects } from './telemetry/busiest-projects.ts';
import { exposition } from './telemetry/exposition.ts';
import { ProcessMetrics } from './telemetry/process-metrics.ts';
import { MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';
import { MetricSums } from './telemetry/sums.ts';
import type { ProjectCounts } from './usage/usage-totals.ts';

interface PrimaryParts {
  readonly supervisor: Pick<Supervisor, 'listening' | 'restarts'>;
  readonly processes: number;
  readonly disk: Pick<DiskCacheIndex, 'bytes' | 'maxBytes' | 'count' | 'evictions'>;
  readonly purges: DiskPurges['totals'];
  /** Null without a shared cache. */
  readonly sharedPurges: () => SharedPurges['totals'] | null;
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
          this.#registry.gauge('workerSeen').value = isMissing ? 0 : 1;
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
  text(): string {
    const { supervisor, processes, disk, purges, sharedPurges, diskFull } = this.#parts;
    const registry = this.#registry;
    const { died, unresponsive, stuck } = supervisor.restarts;
    registry.gauge('frontEnds').value = supervisor.listening;
    registry.gauge('frontEndsWanted').value = processes;
    registry.counter('restarts', 'died').value = died;
    registry.counter('restarts', 'unresponsive').value = unresponsive;
    registry.counter('restarts', 'stuck').value = stuck;
    registry.gauge('cacheBytes', 'disk').value = disk.bytes;
    registry.gauge('cacheLimit', 'disk').value = disk.maxBytes;
    registry.gauge('cacheEntries', 'disk').value = disk.count;
    registry.counter('cacheEvictions', 'disk').value = disk.evictions;
    registry.counter('purges').value = purges.purges;
    registry.counter('purgedImages').value = purges.images;
    const shared = sharedPurges();
    if (shared !== null) {
      registry.counter('sharedDeletions', 'deleted').value = shared.objects;
      registry.counter('sharedDeletions', 'failed').value = shared.failed;
    }
    registry.gauge('diskFull').value = diskFull() ? 1 : 0;
    const own = { ...registry.snapshot(), ...this.#projects.snapshot() };
    return exposition(this.#frontEnds.total(own));
  }
}
