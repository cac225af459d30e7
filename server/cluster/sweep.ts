import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../contract/log.ts';
import type { Bucket } from '../../pool/s3/bucket.ts';
import { groupsPurgedAfter, lastGeneration } from '../../store/generations.ts';
import type { Projects, SweptProject } from '../../store/projects.ts';
import { isPurgedKey, projectDigits } from '../image/key.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';

/** At the start, other machines have deleted the objects of earlier purges. */
const recentPurgesMs = 3_600_000;
/** Limit of cached projects. Images of other projects can be swept again. */
const maxSwept = 10_000;
/** Concurrent DELETE requests to the bucket. */
const concurrency = 8;
const timeoutMs = 10_000;
/**
 * Delay between finding purges and deleting: by then, processes have received the purges and
 * finished writing older images.
 */
const everyMs = 4_000;
/**
 * Covers late writes by other processes, such as the last minute's usage, and clock differences.
 */
const overlapMs = 180_000;

export interface SweepOptions {
  readonly projects: Pick<Projects, 'purgedSince' | 'deleteDocuments'>;
  readonly index: Pick<DiskCacheIndex, 'deleteWhere'>;
  /**
   * Null if there is no shared cache. Every machine deletes its objects, without waiting for the
   * others.
   */
  readonly bucket: Pick<Bucket, 'list' | 'delete'> | null;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly signal: AbortSignal;
  /** Called with a store error; the next query resumes after the last successful query. */
  readonly onError: (error: unknown) => void;
  /** Default: `everyMs`. */
  readonly pauseMs?: number;
}

/**
 * Deletes the files and objects of old generations in the background, in one pass for all projects.
 * Requests do not find them anyway, so a sweep only saves space.
 */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #recent = Date.now() - recentPurgesMs;
  /** The last generation with deleted images, by project. */
  readonly #swept = new LRUCache<string, number>({ max: maxSwept });
  /** Totals: swept purges, deleted files and objects, and purges with failed object deletions. */
  readonly totals = { purges: 0, images: 0, objects: 0, failed: 0 };

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /**
   * Queries the store for purges, including those from while this machine was off, and deletes
   * their images. Also deletes documents of deleted projects that a killed process left or another
   * process wrote afterwards. Every machine does so. Never rejects.
   */
  async follow(): Promise<void> {
    const { projects, signal, onError, pauseMs = everyMs } = this.#options;
    let since = new Date(0);
    while (!signal.aborted) {
      const startedAt = Date.now();
      const purged: SweptProject[] = [];
      try {
        for await (const project of projects.purgedSince(since)) {
          // The next start completes the rest.
          if (signal.aborted) return;
          if (lastGeneration(project) > (this.#swept.get(project._id) ?? 0)) purged.push(project);
          if (project.deletedAt != null) await projects.deleteDocuments(project._id);
        }
        since = new Date(startedAt - overlapMs);
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      await sleep(pauseMs, null, { signal }).catch(() => {});
      if (purged.length > 0 && !signal.aborted) await this.#sweep(purged);
    }
  }

  /**
   * Never rejects. Sweeps purges with failed object deletions again, while the store returns them.
   */
  async #sweep(projects: readonly SweptProject[]): Promise<void> {
    const { log, signal } = this.#options;
    const { totals } = this;
    const startedAt = performance.now();
    const images = await this.#deleteFiles(projects);
    totals.images += images;
    const before = { ...totals };
    try {
      for (const project of projects) {
        await this.#deleteObjects(project);
        this.#swept.set(project._id, lastGeneration(project));
        totals.purges += 1;
      }
      const ms = Math.round(performance.now() - startedAt);
      const objects = totals.objects - before.objects;
      log.info({ projects: projects.length, images, objects, ms }, 'purged images deleted');
    } catch (error) {
      if (signal.aborted) return;
      const left = projects.length - (totals.purges - before.purges);
      totals.failed += left;
      const cause = (error as Error).message;
      log.warn({ projects: left, cause }, 'deleting purged objects failed');
    }
  }

  #deleteFiles(projects: readonly SweptProject[]): Promise<number> {
    const byDigits = new Map(projects.map((project) => [projectDigits(project._id), project]));
    const { length } = projectDigits('');
    return this.#options.index.deleteWhere((key) => {
      const project = byDigits.get(key.slice(0, length));
      return project !== undefined && isPurgedKey(project, key);
    });
  }

  /**
   * Objects with a purged layer are stored under other sources, so only a purge of all images
   * visits them. Until then they stay, but requests do not find them.
   */
  async #deleteObjects(project: SweptProject): Promise<void> {
    const { bucket, signal } = this.#options;
    if (bucket === null) return;
    const { _id: id } = project;
    const groups = groupsPurgedAfter(project, this.#swept.get(id) ?? this.#recent);
    // Use the first two digits of a source's tag, which lists objects of 255 other groups too, but
    // needs at most 256 lists.
    const prefixes = new Set(groups?.map((group) => `${id}/${group.slice(1, 3)}`) ?? [`${id}/`]);
    for (const prefix of prefixes) {
      let token: string | null = null;
      do {
        signal.throwIfAborted();
        const page = await bucket.list(prefix, token, AbortSignal.timeout(timeoutMs));
        const keys = page.objects
          .map(({ key }) => key)
          .filter((key) => isPurgedKey(project, key.slice(key.lastIndexOf('/') + 1)));
        while (keys.length > 0) {
          const some = keys.splice(0, concurrency);
          await Promise.all(some.map((key) => bucket.delete(key, AbortSignal.timeout(timeoutMs))));
          this.totals.objects += some.length;
        }
        token = page.next;
      } while (token !== null);
    }
  }
}
