import type { DiskCacheIndex } from './disk-cache-index.ts';

/**
 * The files of the disk cache that each front end is writing, or has written without the index knowing. A
 * front end announces each before it begins, so that none is lost to the index when the front end dies.
 */
export class DiskCacheWrites {
  readonly #index: Pick<DiskCacheIndex, 'abandoned'>;
  /** Cache keys by the names of the temporary files, by front end. */
  readonly #open = new Map<number, Map<string, string>>();
  /** Front ends that have ended, of which messages may still arrive. */
  readonly #ended = new Set<number>();

  constructor(index: Pick<DiskCacheIndex, 'abandoned'>) {
    this.#index = index;
  }

  begun(frontEnd: number, name: string, key: string): void {
    if (this.#ended.has(frontEnd)) return void this.#index.abandoned(name, key);
    const open = this.#open.get(frontEnd) ?? new Map<string, string>();
    this.#open.set(frontEnd, open.set(name, key));
  }

  /** The index knows what became of these. */
  settled(frontEnd: number, names: readonly string[]): void {
    const open = this.#open.get(frontEnd);
    for (const name of names) open?.delete(name);
  }

  ended(frontEnd: number): void {
    this.#ended.add(frontEnd);
    for (const [name, key] of this.#open.get(frontEnd) ?? []) {
      void this.#index.abandoned(name, key);
    }
    this.#open.delete(frontEnd);
  }
}
