import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../contract/log.ts';
import type { Bucket, ListedObject } from '../../pool/s3/bucket.ts';
import { lastGeneration, purgedAfter } from '../../store/generations.ts';
import type { Store } from '../../store/open.ts';
import type { SweptProject } from '../../store/projects.ts';
import { isPurgedKey, projectDigits } from '../image/key.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';

/** Images that processes were writing when they learned of a purge are written after this time. */
const lateWritesMs = 3_000;
/** At the start, other machines have deleted the objects of earlier purges. */
const recentPurgesMs = 3_600_000;
/** Limit of remembered projects. The images of other projects may be swept again. */
const maxSwept = 10_000;
/** Concurrent DELETE requests to the bucket. */
const concurrency = 8;
const timeoutMs = 10_000;
/** Pause between two looks for purges. */
const everyMs = 15_000;
/** Covers late writes of other processes, such as the usage of the last minute, and clock differences. */
const overlapMs = 240_000;

interface SweepOptions {
  readonly index: Pick<DiskCacheIndex, 'deleteWhere'>;
  /** Null without a shared cache. Every machine deletes its objects, without waiting for the others. */
  readonly bucket: Pick<Bucket, 'list' | 'delete'> | null;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly signal: AbortSignal;
  /** Default: `lateWritesMs`. */
  readonly delayMs?: number;
}

interface FollowOptions {
  /** Called with an error of the store; the next look begins where the last one has ended. */
  readonly onError: (error: unknown) => void;
  /** Default: `everyMs`. */
  readonly pauseMs?: number;
}

/**
 * Deletes the files and objects of old generations in the background, in one pass for all projects. Requests do not find
 * them anyway, so a sweep only saves space.
 */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #recent = Date.now() - recentPurgesMs;
  readonly #pending = new Map<string, SweptProject>();
  /** The last generation that is swept, or being swept, by project. */
  readonly #swept = new LRUCache<string, number>({ max: maxSwept });
  #running = false;
  /** Total purges whose images are deleted, deleted files and objects, and purges whose objects could not be deleted. */
  readonly totals = { purges: 0, images: 0, objects: 0, failed: 0 };

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Begins to delete what a project has purged, unless that is deleted. */
  add(project: SweptProject): void {
    const { _id: id } = project;
    const known = this.#pending.get(id);
    // Front ends and the store tell of a project's states in any order.
    const last = Math.max(
      this.#swept.get(id) ?? 0,
      known === undefined ? 0 : lastGeneration(known),
    );
    if (lastGeneration(project) <= last) return;
    this.#pending.set(id, project);
    if (!this.#running) void this.#run();
  }

  /**
   * Finds what is purged, also while this machine was off, and completes deletions: deletes the documents of deleted
   * projects, also when the process that deleted a project was killed in between, and those that another process wrote
   * afterwards. Each machine does so, which is repeatable. Never rejects.
   */
  async follow(
    { projects, projectDocuments }: Pick<Store, 'projects' | 'projectDocuments'>,
    { onError, pauseMs = everyMs }: FollowOptions,
  ): Promise<void> {
    const { signal } = this.#options;
    let since = new Date(0);
    while (!signal.aborted) {
      const begunAt = Date.now();
      try {
        for await (const project of projects.purgedSince(since)) {
          // The next start completes the rest.
          if (signal.aborted) return;
          this.add(project);
          if (project.deletedAt != null) await projectDocuments.delete(project._id);
        }
        since = new Date(begunAt - overlapMs);
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      await sleep(pauseMs, null, { signal }).catch(() => {});
    }
  }

  async #run(): Promise<void> {
    const { log, signal, delayMs = lateWritesMs } = this.#options;
    const { totals } = this;
    this.#running = true;
    while (this.#pending.size > 0 && !signal.aborted) {
      const begunAt = performance.now();
      const projects = [...this.#pending.values()];
      const before = new Map(projects.map(({ _id }) => [_id, this.#swept.get(_id) ?? 0]));
      this.#pending.clear();
      for (const project of projects) this.#swept.set(project._id, lastGeneration(project));
      let images = await this.#deleteFiles(projects);
      await sleep(delayMs, null, { signal }).catch(() => {});
      images += await this.#deleteFiles(projects);
      totals.images += images;
      const deleted = totals.objects;
      try {
        for (const project of projects) {
          await this.#deleteObjects(project, Math.max(this.#recent, before.get(project._id) ?? 0));
        }
      } catch (error) {
        if (signal.aborted) break;
        // The store tells of them again for minutes.
        for (const [id, number] of before) this.#swept.set(id, number);
        totals.failed += projects.length;
        const cause = (error as Error).message;
        log.warn({ projects: projects.length, cause }, 'purged objects could not be deleted');
      }
      if (signal.aborted) break;
      totals.purges += projects.length;
      const ms = Math.round(performance.now() - begunAt);
      const facts = { projects: projects.length, images, objects: totals.objects - deleted, ms };
      log.info(facts, 'purged images are deleted');
    }
    this.#running = false;
  }

  #deleteFiles(projects: readonly SweptProject[]): Promise<number> {
    const byDigits = new Map(projects.map((project) => [projectDigits(project._id), project]));
    const { length } = projectDigits('');
    return this.#options.index.deleteWhere((key) => {
      const project = byDigits.get(key.slice(0, length));
      return project !== undefined && isPurgedKey(project, key);
    });
  }

  async #deleteObjects(project: SweptProject, since: number): Promise<void> {
    const { bucket, signal } = this.#options;
    if (bucket === null) return;
    const deleteAll = async (objects: Iterable<ListedObject>) => {
      for (const { key } of objects) {
        if (!isPurgedKey(project, key.slice(key.lastIndexOf('/') + 1))) continue;
        await bucket.delete(key, AbortSignal.timeout(timeoutMs));
        this.totals.objects += 1;
      }
    };
    for (const prefix of objectPrefixes(project, since)) {
      let token: string | null = null;
      do {
        signal.throwIfAborted();
        const page = await bucket.list(prefix, token, AbortSignal.timeout(timeoutMs));
        const objects = page.objects.values();
        await Promise.all(Array.from({ length: concurrency }, () => deleteAll(objects)));
        token = page.next;
      } while (token !== null);
    }
  }
}

/**
 * The prefixes of the objects that purges after a generation concern. Objects with a purged layer are among those of all
 * images, which only a purge of all images looks through: until then they stay, and are not found.
 */
function objectPrefixes(project: SweptProject, since: number): string[] {
  const { all, groups } = purgedAfter(project, since);
  if (all) return [`${project._id}/`];
  // The last two bits of a group's digits are those of its sources.
  const digits = groups.flatMap((group) =>
    [0, 1, 2, 3].map((rest) => (Number.parseInt(group, 16) + rest).toString(16).padStart(3, '0')),
  );
  return digits.map((text) => `${project._id}/${text}`);
}
