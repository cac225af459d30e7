import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import type { Project } from '../../store/projects.ts';
import { type PurgedProject, purgedFiles } from '../image/image-purges.ts';
import { keyPrefix } from '../image/key.ts';
import type { DiskCacheIndex } from './disk-cache-index.ts';
import { PurgeQueue } from './purge-queue.ts';

/** Images that front ends were writing when they learned of a purge are on the disk after this time. */
const lateWritesMs = 3_000;
/** Images that a project may delete in one turn. */
const imagesPerTurn = 32;
/** A search takes a tenth of a second for a million images, in which the primary does nothing else. */
const pausePerSearch = 10;

interface DiskPurgesOptions {
  readonly index: Pick<DiskCacheIndex, 'keysWhere' | 'deleteWhere'>;
  readonly log: Pick<Logger, 'info'>;
  /** Called when the images of all purges up to a number are deleted. */
  readonly onComplete: (projectId: string, number: number, images: number) => void;
  /** Delay before the images are deleted again, in ms; `lateWritesMs` if absent. */
  readonly delayMs?: number;
}

/**
 * Deletes purged images from the disk, in the background: they are not served any more before that. One search of
 * the index finds those of all projects, however many purge at a time; the projects take turns to delete them.
 */
export class DiskPurges {
  readonly #options: DiskPurgesOptions;
  readonly #queue = new PurgeQueue((project) => this.#deleteOf(project));
  /** The projects of the next search, with what gets their keys. */
  readonly #searches = new Map<PurgedProject, (keys: readonly string[]) => void>();
  /** When the next search may begin, by the clock of `performance`. */
  #searchAt = 0;
  /** Total completed purges, and images that they deleted. */
  readonly totals = { purges: 0, images: 0 };

  constructor(options: DiskPurgesOptions) {
    this.#options = options;
  }

  /** Begins to delete what a project has purged. */
  purge(project: Project): void {
    this.#queue.add(project);
  }

  /** Whether the images of all known purges of a project are deleted. */
  isCompleted(project: Project): boolean {
    return this.#queue.isCompleted(project);
  }

  /** Deletes again: the index has found more files. */
  restart(projects: readonly Project[]): void {
    this.#queue.forget();
    for (const project of projects) this.purge(project);
  }

  close(): void {
    this.#queue.close();
  }

  async #deleteOf(project: Project): Promise<void> {
    const { signal } = this.#queue;
    const begunAt = performance.now();
    const purged = { project, since: this.#queue.completedOf(project._id) };
    const early = await this.#deleteOnce(purged);
    await sleep(this.#options.delayMs ?? lateWritesMs, null, { signal }).catch(() => {});
    const late = await this.#deleteOnce(purged);
    if (!signal.aborted) this.#complete(project, early + late, performance.now() - begunAt);
  }

  /** @returns the number of deleted images */
  async #deleteOnce(purged: PurgedProject): Promise<number> {
    const [, matches] = purgedFiles([purged]);
    const keys = await this.#keysOf(purged);
    let images = 0;
    for (let from = 0; from < keys.length && !this.#queue.signal.aborted; from += imagesPerTurn) {
      const some = keys.slice(from, from + imagesPerTurn);
      images += (await this.#queue.turn(() => this.#options.index.deleteWhere(some, matches))) ?? 0;
    }
    return images;
  }

  /** The keys of images that may be purged. */
  #keysOf(purged: PurgedProject): Promise<readonly string[]> {
    return new Promise((resolve) => {
      this.#searches.set(purged, resolve);
      if (this.#searches.size > 1) return;
      const waitMs = Math.max(0, this.#searchAt - performance.now());
      setTimeout(() => this.#search(), waitMs);
    });
  }

  /** Finds the keys of all projects that wait for them. */
  #search(): void {
    const begunAt = performance.now();
    const searches = [...this.#searches];
    this.#searches.clear();
    const [mayMatch] = purgedFiles(searches.map(([purged]) => purged));
    const found = new Map<string, string[]>();
    const { length } = keyPrefix('');
    for (const key of this.#options.index.keysWhere(mayMatch)) {
      const prefix = key.slice(0, length);
      const keys = found.get(prefix);
      if (keys === undefined) found.set(prefix, [key]);
      else keys.push(key);
    }
    for (const [purged, resolve] of searches) {
      resolve(found.get(keyPrefix(purged.project._id)) ?? []);
    }
    const now = performance.now();
    this.#searchAt = now + pausePerSearch * (now - begunAt);
  }

  #complete(project: Project, images: number, ms: number): void {
    const id = project._id;
    const number = this.#queue.complete(project);
    this.totals.purges += 1;
    this.totals.images += images;
    const facts = { project: id, purge: number, images, ms: Math.round(ms) };
    this.#options.log.info(facts, 'purged images are deleted');
    this.#options.onComplete(id, number, images);
  }
}
