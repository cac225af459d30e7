import type { Collection, Db, Filter } from 'mongodb';
import { withTimeout } from './deadline.ts';
import type { Project } from './project.ts';
import { retryOnDuplicateKey } from './upsert.ts';

export type ProjectChange = Pick<Project, '_id' | 'revision'>;

interface Counter {
  readonly _id: string;
  readonly value: number;
}

const counterId = 'projectChanges';

/** More documents than a follower reads at once: by default a second round trip begins after 101. */
export const oneBatch = 100_000;

/** Half of the connections of a process. */
const numberedAtOnce = 5;

/** A stored project with the state of its latest change, which only this module reads. */
export interface StoredProject extends Project {
  /** Set by every change until the change has a number. */
  readonly changePending?: true;
  /** The number of the latest numbered change. */
  readonly changeNumber?: number;
}

/** Part of every change of a project. */
export const markChange = { changePending: true } as const;

export function withoutChange({ changePending, changeNumber, ...project }: StoredProject): Project {
  return project;
}

/**
 * Follows the changes of all projects without clocks.
 *
 * A change marks its project as pending, in the same update. A follower that sees the mark in two polls
 * takes a number from a counter in the store and replaces the mark by it. A poll reads, in this order,
 * the counter, the pending projects, and the projects with a number above the previous poll's counter.
 * It misses no change, however long a process is suspended between two steps: a project that is no longer
 * pending at the second read got its number before the third, and a number taken after the first read
 * is above that counter, so the next poll reads it. This requires that a read sees the writes that ended
 * before it, as reads from a primary do.
 *
 * Followers replace the mark, so that a change is one write, which the end of its process cannot divide.
 */
export class ProjectChanges {
  readonly #projects: Collection<StoredProject>;
  readonly #counters: Collection<Counter>;
  #position: number | null = null;
  /** Revisions of the projects that were pending at the previous poll. */
  #pending = new Map<string, number>();
  #numbering = false;

  constructor(db: Db) {
    this.#projects = db.collection('projects');
    this.#counters = db.collection('counters');
  }

  /**
   * The projects that changed since the last call; some may be reported again. Null if the changes are
   * unknown: on the first call, and after the counter has decreased, as when a backup is restored.
   */
  async next(): Promise<ProjectChange[] | null> {
    const counter = await withTimeout(this.#counters.findOne({ _id: counterId }));
    const value = counter?.value ?? 0;
    const pending = await this.#find({ changePending: true });
    const since = this.#position;
    // Also when the counter is the same: another follower may have replaced a mark after it was read.
    const numbered = since === null ? [] : await this.#find({ changeNumber: { $gte: since + 1 } });
    this.#position = value;
    // In the background: the changes are known without it, and a slow store takes long.
    void this.#number(pending);
    return since === null || value < since ? null : [...pending, ...numbered];
  }

  #find(filter: Filter<StoredProject>): Promise<ProjectChange[]> {
    const found = this.#projects.find(filter, { batchSize: oneBatch });
    return withTimeout(found.project<ProjectChange>({ revision: 1 }).toArray());
  }

  /** Replaces the marks that this follower has seen in two polls. */
  async #number(pending: readonly ProjectChange[]): Promise<void> {
    const before = this.#pending;
    this.#pending = new Map(pending.map(({ _id, revision }) => [_id, revision]));
    const seenTwice = pending.filter(({ _id, revision }) => before.get(_id) === revision);
    if (seenTwice.length === 0 || this.#numbering) return;
    this.#numbering = true;
    try {
      await this.#replaceMarks(seenTwice);
    } catch {
      // The store may be readable but not writable, for example on a full disk.
    } finally {
      this.#numbering = false;
    }
  }

  /** With one number for all of them. */
  async #replaceMarks(changes: readonly ProjectChange[]): Promise<void> {
    const counting = retryOnDuplicateKey(() =>
      this.#counters.findOneAndUpdate(
        { _id: counterId },
        { $inc: { value: 1 } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    const counter = await withTimeout(counting);
    if (counter === null) return;
    const update = {
      $set: { changeNumber: counter.value },
      $unset: { changePending: '' },
    } as const;
    for (let from = 0; from < changes.length; from += numberedAtOnce) {
      const replaced = changes.slice(from, from + numberedAtOnce).map(({ _id, revision }) => {
        return withTimeout(
          this.#projects.updateOne({ _id, revision, changePending: true }, update),
        );
      });
      await Promise.all(replaced);
    }
  }
}
