import { LRUCache } from 'lru-cache';
import type { Project } from '../../store/projects.ts';

/** Projects whose completed purges are remembered; the purges of others may be worked on again. */
const maxCompleted = 10_000;

/** Works on the purges of projects in the background, on those of all waiting projects together. */
export class PurgeQueue {
  readonly #work: (projects: readonly Project[]) => Promise<void>;
  readonly #since: number;
  /** The last known state of the projects that wait. */
  readonly #pending = new Map<string, Project>();
  /** The number of the last completed purge, by project. */
  readonly #completed = new LRUCache<string, number>({ max: maxCompleted });
  readonly #closing = new AbortController();
  #running = false;

  /**
   * @param work calls `complete` for each project whose purges it has completed; does not reject
   * @param since purges up to this number are completed already
   */
  constructor(work: (projects: readonly Project[]) => Promise<void>, since = 0) {
    this.#work = work;
    this.#since = since;
  }

  /** Aborts when the queue is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Adds a project, unless its purges are completed. */
  add(project: Project): void {
    const { _id: id, purges } = project;
    if (purges === undefined || purges.last <= this.completedOf(id)) return;
    this.#pending.set(id, project);
    if (!this.#running) void this.#run();
  }

  /** The number of a project's last completed purge. */
  completedOf(id: string): number {
    return this.#completed.get(id) ?? this.#since;
  }

  /** @returns the number of the completed purge */
  complete({ _id: id, purges }: Project): number {
    const number = purges?.last ?? 0;
    this.#completed.set(id, number);
    return number;
  }

  /** Forgets which purges are completed. */
  forget(): void {
    this.#completed.clear();
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#pending.size > 0 && !this.signal.aborted) {
      const projects = [...this.#pending.values()];
      this.#pending.clear();
      await this.#work(projects);
    }
    this.#running = false;
  }
}
