import type { Collection, Db, Filter } from 'mongodb';
import { answered } from './deadline.ts';
import type { Project } from './project.ts';
import { retryOnDuplicateKey } from './upsert.ts';

/** The fields by which a change of a project is detected. */
export type ProjectChange = Pick<Project, '_id' | 'revision'>;

interface Counter {
  readonly _id: string;
  readonly value: number;
}

const counterId = 'projectChanges';

/** A project as it is stored: with the state of its latest change, which only this module reads. */
export interface StoredProject extends Project {
  /** Set by every change, until it has a number. */
  readonly changePending?: true;
  /** The number of the latest change that has one. */
  readonly changeNumber?: number;
}

/** Part of every change of a project. */
export const markChange = { changePending: true } as const;

/** The fields of a stored project that are no part of a project. */
export function withoutChange({ changePending, changeNumber, ...project }: StoredProject): Project {
  return project;
}

/**
 * Follows the changes of all projects, by no clock.
 *
 * A change marks its project as pending, in the same update. A follower that sees a mark at two
 * polls takes a number from a counter in the store and replaces the mark by it. A poll reads, in
 * this order, the counter, the pending projects, and those with a number above the counter of the
 * poll before. So it misses no change, however long anybody pauses between two steps: a project
 * that is no longer pending at the second read has its number since before the third, and a number
 * that was taken after the counter was read is above it, so that the next poll reads it. This
 * requires only that a read sees the writes that ended before it, as reads from a primary do.
 *
 * A mark is replaced later, and not by who made the change, so that a change is one write, and so
 * that nothing is lost when its process ends right after it.
 */
export class ProjectChanges {
  readonly #projects: Collection<StoredProject>;
  readonly #counters: Collection<Counter>;
  #position: number | null = null;
  /** The revisions of the projects that the poll before has seen pending. */
  #pending = new Map<string, number>();

  constructor(db: Db) {
    this.#projects = db.collection('projects');
    this.#counters = db.collection('counters');
  }

  /**
   * The projects that changed since the last call; some may be reported again. Null when this
   * cannot be told: on the first call, and when the counter went back, as after a restored backup.
   */
  async next(): Promise<ProjectChange[] | null> {
    const counter = await answered(this.#counters.findOne({ _id: counterId }));
    const value = counter?.value ?? 0;
    const pending = await this.#find({ changePending: true });
    const since = this.#position;
    const numbered =
      since !== null && value > since
        ? await this.#find({ changeNumber: { $gte: since + 1 } })
        : [];
    this.#position = value;
    await this.#number(pending);
    return since === null || value < since ? null : [...pending, ...numbered];
  }

  #find(filter: Filter<StoredProject>): Promise<ProjectChange[]> {
    const found = this.#projects.find(filter).project<ProjectChange>({ revision: 1 });
    return answered(found.toArray());
  }

  async #number(pending: readonly ProjectChange[]): Promise<void> {
    const before = this.#pending;
    this.#pending = new Map(pending.map(({ _id, revision }) => [_id, revision]));
    for (const { _id, revision } of pending) {
      if (before.get(_id) !== revision) continue;
      try {
        await answered(this.#replaceMark(_id, revision));
      } catch {
        // A store that cannot be written, to a full disk for example, can still be read.
        return;
      }
    }
  }

  async #replaceMark(_id: string, revision: number): Promise<void> {
    const counter = await retryOnDuplicateKey(() =>
      this.#counters.findOneAndUpdate(
        { _id: counterId },
        { $inc: { value: 1 } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    if (counter === null) return;
    await this.#projects.updateOne(
      { _id, revision, changePending: true },
      { $set: { changeNumber: counter.value }, $unset: { changePending: '' } },
    );
  }
}
