import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import type { Bucket, ListedObject } from '../../pool/s3/bucket.ts';
import type { Project } from '../../store/projects.ts';
import { type PurgedObjects, purgedObjects } from '../image/image-purges.ts';
import { PurgeQueue } from './purge-queue.ts';

interface SharedPurgesOptions {
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

interface DeletedObjects {
  objects: number;
}

/**
 * Deletes purged images from the shared cache in the background, to save space. Their stamps already prevent their
 * use, so every machine deletes them without waiting for the others. Images with a purged watermark are not deleted,
 * because their keys do not name the watermark.
 */
export class SharedPurges {
  readonly #options: SharedPurgesOptions;
  readonly #queue: PurgeQueue;
  /** Total deleted objects, and deletions of a project that failed in all attempts. */
  readonly totals = { objects: 0, failed: 0 };

  constructor(options: SharedPurgesOptions) {
    this.#options = options;
    this.#queue = new PurgeQueue((project) => this.#deleteOf(project), options.since);
  }

  /**
   * Begins to delete the purged images of a project.
   * @param from the number of a purge whose images are known not to be deleted
   */
  purge(project: Project, from: number | null = null): void {
    this.#queue.add(project, from);
  }

  /** Must be called before the bucket is destroyed, which cancels the requests in progress. */
  close(): void {
    this.#queue.close();
  }

  async #deleteOf(project: Project): Promise<void> {
    const { log, delayMs = lateWritesMs, pauseMs = firstPauseMs } = this.#options;
    const id = project._id;
    const count = { objects: 0 };
    await this.#pause(delayMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        for (const purged of purgedObjects(project, this.#queue.completedOf(id))) {
          await this.#deleteListed(purged, count);
        }
        if (this.#queue.signal.aborted) return;
        this.#queue.complete(project);
        if (count.objects > 0) log.info({ project: id, ...count }, 'purged objects are deleted');
        return;
      } catch (error) {
        if (this.#queue.signal.aborted) return;
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

  /** Deletes the objects of one page of the listing in each turn. */
  async #deleteListed({ prefix, before }: PurgedObjects, count: DeletedObjects): Promise<void> {
    const { bucket } = this.#options;
    let token: string | null = null;
    do {
      token = await this.#queue.turn(async () => {
        const { objects, next } = await bucket.list(prefix, token, AbortSignal.timeout(timeoutMs));
        // Nearly all objects that were written later are valid; the others have old stamps.
        const purged = objects.filter(({ modifiedAt }) => modifiedAt <= before).values();
        const deletions = Array.from({ length: concurrency }, () => {
          return this.#deleteObjects(purged, count);
        });
        await Promise.all(deletions);
        return next;
      });
    } while (token !== null);
  }

  async #deleteObjects(objects: Iterable<ListedObject>, count: DeletedObjects): Promise<void> {
    for (const { key } of objects) {
      await this.#options.bucket.delete(key, AbortSignal.timeout(timeoutMs));
      this.totals.objects += 1;
      count.objects += 1;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#queue.signal }).catch(() => {});
  }
}
