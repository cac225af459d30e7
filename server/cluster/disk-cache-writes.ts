import type { DiskCacheIndex } from './disk-cache-index.ts';

/**
 * Files of the disk cache that front ends write and have not reported as written. A front end announces each
 * file, so the index finds it when the front end dies.
 */
export class DiskCacheWrites {
  readonly #index: Pick<DiskCacheIndex, 'abandoned'>;
  /** Cache keys by the names of the temporary files, by front end. */
  readonly #open = new Map<number, Map<string, string>>();
  /** Ended front ends, whose messages may still arrive. */
  readonly #ended = new Set<number>();

  constructor(index: Pick<DiskCacheIndex, 'abandoned'>) {
    this.#index = index;
  }

  started(frontEnd: number, name: string, key: string): void {
    if (this.#ended.has(frontEnd)) return void this.#index.abandoned(name, key);
    const open = this.#open.get(frontEnd) ?? new Map<string, string>();
    this.#open.set(frontEnd, open.set(name, key));
  }

  /** The front end has reported these files. */
  reported(frontEnd: number, names: readonly string[]): void {
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
