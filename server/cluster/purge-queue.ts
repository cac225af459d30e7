import { LRUCache } from 'lru-cache';
import type { Project } from '../../store/projects.ts';

/** Projects whose completed purges are remembered; the purges of others may be worked on again. */
const maxCompleted = 10_000;

/** The number of a project's last purge. */
const lastOf = (project?: Project): number => project?.purges?.last ?? 0;

/**
 * Works on the purges of projects in the background. The projects take turns, however much one of them has to
 * delete: the work on the purges of a project consists of pieces, of which one runs at a time.
 */
export class PurgeQueue {
  readonly #work: (project: Project) => Promise<void>;
  readonly #since: number;
  /** The last known state of projects with purges that are not worked on yet. */
  readonly #pending = new Map<string, Project>();
  /** The projects that are worked on; true if more is to be deleted for their purges than this work knows. */
  readonly #active = new Map<string, boolean>();
  /** The number of the last completed purge, by project. */
  readonly #completed = new LRUCache<string, number>({ max: maxCompleted });
  readonly #closing = new AbortController();
  /** Settles after the piece that is next to last in turn. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  /**
   * @param work calls `complete` when it has completed the purges of a project, and `turn` for one piece after the
   *   other; does not reject
   * @param since purges up to this number are completed already
   */
  constructor(work: (project: Project) => Promise<void>, since = 0) {
    this.#work = work;
    this.#since = since;
  }

  /** Aborts when the queue is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Adds a project, unless its purges are completed.
   * @param from the number of a purge that is known not to be completed
   */
  add(project: Project, from: number | null = null): void {
    const { _id: id } = project;
    // Purges after `since` are worked on anyway, and may be completed though the store does not know it yet.
    if (from !== null && from <= this.#since) {
      this.#completed.set(id, Math.min(from - 1, this.completedOf(id)));
      if (this.#active.has(id)) this.#active.set(id, true);
    }
    if (this.isCompleted(project)) return;
    // Front ends and the store tell of a project's states in any order.
    if (lastOf(project) >= lastOf(this.#pending.get(id))) this.#pending.set(id, project);
    if (!this.#active.has(id)) void this.#run(id);
  }

  /** Whether all known purges of a project are completed. */
  isCompleted(project: Project): boolean {
    return lastOf(project) <= this.completedOf(project._id);
  }

  /**
   * Runs a piece of the work when it is its turn, and resolves or rejects as it does; with null once the queue is
   * closed. A project that asks for one piece at a time waits for at most one piece of each other project.
   */
  turn<T>(piece: () => Promise<T>): Promise<T | null> {
    const result = this.#lastTurn.then(() => (this.signal.aborted ? null : piece()));
    this.#lastTurn = result.catch(() => {});
    return result;
  }

  /** The number of a project's last completed purge. */
  completedOf(id: string): number {
    return this.#completed.get(id) ?? this.#since;
  }

  /**
   * Notes that the purges of a project are completed, unless more of them became known to be open meanwhile.
   * @returns the number of the last of them
   */
  complete(project: Project): number {
    const number = lastOf(project);
    if (this.#active.get(project._id)) this.add(project);
    else this.#completed.set(project._id, number);
    return number;
  }

  /** Forgets which purges are completed. */
  forget(): void {
    this.#completed.clear();
    for (const id of this.#active.keys()) this.#active.set(id, true);
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(id: string): Promise<void> {
    for (;;) {
      const project = this.#pending.get(id);
      if (project === undefined || this.signal.aborted) break;
      this.#pending.delete(id);
      this.#active.set(id, false);
      // It may have been added again with the purges that were worked on.
      if (!this.isCompleted(project)) await this.#work(project);
    }
    this.#active.delete(id);
  }
}
