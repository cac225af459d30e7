import type { Registry } from 'prom-client';
import type { Logger } from '../contract/log.ts';
import { loadMetricsExport } from '../contract/otlp/load-metrics.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Shutdown } from '../contract/shutdown.ts';
import type { WorkerState } from '../store/heartbeat.ts';
import type { DiskCacheIndex } from './cluster/disk-cache-index.ts';
import type { DiskSpace } from './cluster/disk-space.ts';
import type { Supervisor } from './cluster/supervisor.ts';
import type { Sweep } from './cluster/sweep.ts';
import { BusiestProjects } from './telemetry/busiest-projects.ts';
import { ProcessMetrics } from './telemetry/process-metrics.ts';
import { MetricSums, MetricsRegistry, type MetricsSnapshot } from './telemetry/registry.ts';
import { tiers } from './usage/request-counts.ts';
import type { ProjectCounts } from './usage/usage-totals.ts';

const collectEveryMs = 1_000;
const reassignEveryMs = 60_000;
const findWorkerEveryMs = 5_000;

/** The metrics of the machine: the sums of the front ends, and the primary's own. */
export class PrimaryMetrics {
  readonly #settings: Settings;
  readonly #supervisor: Supervisor;
  readonly #disk: DiskCacheIndex;
  readonly #diskSpace: DiskSpace;
  /** Null until the primary follows purges. */
  sweep: Sweep | null = null;
  readonly #registry = new MetricsRegistry();
  readonly #process = new ProcessMetrics(this.#registry, 'primary');
  readonly #frontEnds = new MetricSums();
  readonly #projects = new BusiestProjects();
  readonly #otlp = loadMetricsExport(process.env);

  constructor(
    settings: Settings,
    supervisor: Supervisor,
    disk: DiskCacheIndex,
    diskSpace: DiskSpace,
  ) {
    this.#settings = settings;
    this.#supervisor = supervisor;
    this.#disk = disk;
    this.#diskSpace = diskSpace;
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

  /** Starts to send the metrics by OTLP, if OpenTelemetry's variables enable it. */
  async export(log: Logger, shutdown: Shutdown): Promise<void> {
    const otlp = await this.#otlp;
    if (otlp !== null) {
      shutdown.add(otlp.startMetricsExport(process.env, log, () => this.read()));
    }
  }

  /** All metrics. */
  read(): Registry {
    const { processes, sharedCacheUrl } = this.#settings;
    const registry = this.#registry;
    const disk = this.#disk;
    registry.set('frontEnds', this.#supervisor.listening);
    registry.set('frontEndsWanted', processes);
    registry.setTotals('restarts', this.#supervisor.restarts);
    registry.set('cacheBytes', disk.bytes, 'disk');
    registry.set('cacheLimit', disk.maxBytes, 'disk');
    registry.set('cacheEntries', disk.count, 'disk');
    registry.set('cacheEvictions', disk.evictions, 'disk');
    const { purges = 0, images = 0, objects: deleted = 0, failed = 0 } = this.sweep?.totals ?? {};
    registry.set('purges', purges);
    registry.set('purgedImages', images);
    if (sharedCacheUrl !== null) registry.setTotals('sharedDeletions', { deleted, failed });
    registry.set('diskFull', this.#diskSpace.shortage === null ? 0 : 1);
    registry.reset('projectRequests');
    for (const [project, counts] of this.#projects.series()) {
      for (const tier of tiers) registry.set('projectRequests', counts[tier], project, tier);
    }
    return this.#frontEnds.total(registry.snapshot());
  }
}
