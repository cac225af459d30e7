import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import type { Provenance } from '../../pool/image.ts';
import type { Project } from '../../store/projects.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';
import { PurgeQueue } from './purge-queue.ts';

/** Images that front ends were writing when they learned of a purge are on the disk after this time. */
const lateWritesMs = 3_000;

export interface DiskPurgesOptions {
  readonly index: Pick<DiskCacheIndex, 'deleteWhere'>;
  /**
   * Two predicates: for the keys of images that may be purged, and for the provenance of purged images.
   *
   * @param purged projects, each with the number of a purge whose images are deleted already
   */
  readonly match: (
    purged: readonly { readonly project: Project; readonly since: number }[],
  ) => Parameters<DiskCacheIndex['deleteWhere']>;
  readonly log: Logger;
  /** Called when the images of all purges up to a number are deleted. */
  readonly onComplete: (projectId: string, number: number, images: number) => void;
}

/**
 * Deletes purged images from the disk, in the background: they are not served any more before that. One pass over
 * the index deletes those of all projects, however many purge at a time.
 */
export class DiskPurges {
  readonly #options: DiskPurgesOptions;
  readonly #queue = new PurgeQueue((projects) => this.#deleteAll(projects));
  /** Total completed purges, and images that they deleted. */
  readonly totals = { purges: 0, images: 0 };

  constructor(options: DiskPurgesOptions) {
    this.#options = options;
  }

  /** Begins to delete what a project has purged. */
  purge(project: Project): void {
    this.#queue.add(project);
  }

  /** Deletes again: the index has found more files. */
  restart(projects: readonly Project[]): void {
    this.#queue.forget();
    for (const project of projects) this.purge(project);
  }

  close(): void {
    this.#queue.close();
  }

  async #deleteAll(projects: readonly Project[]): Promise<void> {
    const { signal } = this.#queue;
    const begunAt = performance.now();
    const images = new Map<string, number>();
    await this.#delete(projects, images);
    await sleep(lateWritesMs, null, { signal }).catch(() => {});
    if (signal.aborted) return;
    await this.#delete(projects, images);
    for (const project of projects) this.#complete(project, images, performance.now() - begunAt);
  }

  /** @param images counts the deleted images by project */
  async #delete(projects: readonly Project[], images: Map<string, number>): Promise<void> {
    const { index, match } = this.#options;
    const purged = projects.map((project) => ({
      project,
      since: this.#queue.completedOf(project._id),
    }));
    const [mayMatch, matches] = match(purged);
    await index.deleteWhere(mayMatch, (image: Provenance) => {
      const { project } = image.tags;
      if (!matches(image)) return false;
      images.set(project, (images.get(project) ?? 0) + 1);
      return true;
    });
  }

  #complete(project: Project, images: ReadonlyMap<string, number>, ms: number): void {
    const id = project._id;
    const count = images.get(id) ?? 0;
    const number = this.#queue.complete(project);
    this.totals.purges += 1;
    this.totals.images += count;
    const facts = { project: id, purge: number, images: count, ms: Math.round(ms) };
    this.#options.log.info(facts, 'purged images are deleted');
    this.#options.onComplete(id, number, count);
  }
}
