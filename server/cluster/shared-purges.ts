import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../contract/log.ts';
import type { Bucket, ListedObject } from '../../pool/s3/bucket.ts';
import type { Project } from '../../store/projects.ts';
import { type PurgedObjects, purgedObjects } from '../image/purges.ts';

export interface SharedPurgesOptions {
  readonly bucket: Pick<Bucket, 'list' | 'delete'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Objects of purges until this number are not looked for. */
  readonly since: number;
  readonly lateMs?: number;
  readonly pauseMs?: number;
}

/** After this time all machines know a purge, and write no more objects that it concerns. */
const lateWritesMs = 3_000;
/** Calls of the service at a time. */
const concurrency = 8;
const timeoutMs = 10_000;
/** Half a minute. Then the next purge of the project tries again. */
const attempts = 6;
const firstPauseMs = 1_000;
/** Projects whose completed purges are remembered; those of others are looked for once more. */
const maxCompleted = 10_000;

/**
 * Deletes purged images from the shared cache, in the background. They are not used before that, because of their
 * stamps, and need not be deleted at all; so every machine does it, and none waits for another. The stamps alone
 * protect from images with a purged watermark, whose objects a listing cannot find.
 */
export class SharedPurges {
  readonly #options: SharedPurgesOptions;
  readonly #pending = new Map<string, Project>();
  /** The number of the last completed purge, by project. */
  readonly #completed = new LRUCache<string, number>({ max: maxCompleted });
  readonly #closing = new AbortController();
  #running = false;
  /** Total deleted objects, and deletions of a project that were given up. */
  readonly totals = { objects: 0, failed: 0 };

  constructor(options: SharedPurgesOptions) {
    this.#options = options;
  }

  /** Begins to delete what a project has purged. */
  purge(project: Project): void {
    const { _id: id, purges } = project;
    if (purges === undefined || purges.last <= this.#completedOf(id)) return;
    this.#pending.set(id, project);
    if (!this.#running) void this.#run();
  }

  /** Call it before the bucket is destroyed, which ends what is in progress. */
  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { lateMs = lateWritesMs } = this.#options;
    this.#running = true;
    while (this.#pending.size > 0) {
      await this.#pause(lateMs);
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
      // Later objects are of valid images, but for few, which have old stamps.
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
