import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../contract/log.ts';
import type { Bucket, ListedObject } from '../../pool/s3/bucket.ts';
import type { Project } from '../../store/projects.ts';
import { type PurgedObjects, purgedObjects } from '../image/purges.ts';

export interface SharedPurgesOptions {
  readonly bucket: Pick<Bucket, 'list' | 'delete'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The objects of purges up to this number are deleted already. */
  readonly since: number;
  /** Delay before the objects are listed, in ms; `lateWritesMs` if absent. */
  readonly delayMs?: number;
  /** Pause after the first failed attempt, in ms; `firstPauseMs` if absent. */
  readonly pauseMs?: number;
}

/** After this time all machines know a purge and write no more objects of purged images. */
const lateWritesMs = 3_000;
/** Concurrent DELETE requests. */
const concurrency = 8;
const timeoutMs = 10_000;
/** With the pauses they take half a minute. After that, the project's next purge tries again. */
const attempts = 6;
const firstPauseMs = 1_000;
/** Projects whose completed purges are remembered; the objects of other projects are listed once more. */
const maxCompleted = 10_000;

/**
 * Deletes purged images from the shared cache in the background, to save space. Their stamps already prevent their
 * use, so every machine deletes them without waiting for the others. Images with a purged watermark are not deleted,
 * because their keys do not name the watermark.
 */
export class SharedPurges {
  readonly #options: SharedPurgesOptions;
  readonly #pending = new Map<string, Project>();
  /** The number of the last completed purge, by project. */
  readonly #completed = new LRUCache<string, number>({ max: maxCompleted });
  readonly #closing = new AbortController();
  #running = false;
  /** Total deleted objects, and deletions of a project that failed in all attempts. */
  readonly totals = { objects: 0, failed: 0 };

  constructor(options: SharedPurgesOptions) {
    this.#options = options;
  }

  /** Begins to delete the purged images of a project. */
  purge(project: Project): void {
    const { _id: id, purges } = project;
    if (purges === undefined || purges.last <= this.#completedOf(id)) return;
    this.#pending.set(id, project);
    if (!this.#running) void this.#run();
  }

  /** Must be called before the bucket is destroyed, which cancels the requests in progress. */
  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { delayMs = lateWritesMs } = this.#options;
    this.#running = true;
    while (this.#pending.size > 0) {
      await this.#pause(delayMs);
      for (const [id, project] of this.#pending) {
        this.#pending.delete(id);
        if (!this.#closing.signal.aborted) await this.#deleteOf(project);
      }
    }
    this.#running = false;
  }

  async #deleteOf(project: Project): Promise<void> {
    const { log, pauseMs = firstPauseMs } = this.#options;
    const { _id: id, purges } = project;
    const before = this.totals.objects;
    for (let attempt = 1; ; attempt += 1) {
      try {
        for (const purged of purgedObjects(project, this.#completedOf(id))) {
          await this.#delete(purged);
        }
        this.#completed.set(id, purges?.last ?? 0);
        const objects = this.totals.objects - before;
        if (objects > 0) log.info({ project: id, objects }, 'purged objects are deleted');
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        if (attempt < attempts) {
          await this.#pause(pauseMs * 2 ** (attempt - 1));
          continue;
        }
        this.totals.failed += 1;
        const cause = (error as Error).message;
        return log.warn({ project: id, cause }, 'purged objects could not be deleted');
      }
    }
  }

  async #delete({ prefix, before }: PurgedObjects): Promise<void> {
    const { bucket } = this.#options;
    let token: string | null = null;
    do {
      const { objects, next } = await bucket.list(prefix, token, AbortSignal.timeout(timeoutMs));
      // Nearly all objects that were written later are valid; the others have old stamps.
      const purged = objects.filter(({ modifiedAt }) => modifiedAt <= before).values();
      await Promise.all(Array.from({ length: concurrency }, () => this.#deleteAll(purged)));
      token = next;
    } while (token !== null);
  }

  async #deleteAll(objects: Iterable<ListedObject>): Promise<void> {
    for (const { key } of objects) {
      await this.#options.bucket.delete(key, AbortSignal.timeout(timeoutMs));
      this.totals.objects += 1;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#closing.signal }).catch(() => {});
  }

  #completedOf(id: string): number {
    return this.#completed.get(id) ?? this.#options.since;
  }
}
