import { setTimeout as sleep } from 'node:timers/promises';

/** The shortest time between two reads: a slow store has few of them at a time, on the ten connections of a process. */
const everyMs = 200;

/** Batches reads of single projects, which requests wait for. */
export class BatchedReads<T> {
  readonly #readAll: (ids: readonly string[]) => Promise<T>;
  /** The ids of the next read. */
  readonly #ids = new Set<string>();
  #next: Promise<T> | null = null;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(readAll: (ids: readonly string[]) => Promise<T>) {
    this.#readAll = readAll;
  }

  /** Adds an id to the next read, which has not begun. */
  read(id: string): Promise<T> {
    this.#ids.add(id);
    this.#next ??= this.#start();
    return this.#next;
  }

  async #start(): Promise<T> {
    await sleep(Math.max(0, this.#startedAt + everyMs - performance.now()));
    const ids = [...this.#ids];
    this.#ids.clear();
    this.#next = null;
    this.#startedAt = performance.now();
    return this.#readAll(ids);
  }
}
