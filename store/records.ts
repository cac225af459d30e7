import type { Collection, Db, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { withTimeout } from './outage.ts';

/** The stored record of a call that continues after its response. */
export interface ProjectRecord {
  readonly _id: string;
  readonly projectId: string;
  readonly createdAt: Date;
}

/** States of such a call; the last two are final. */
export const callStates = ['accepted', 'done', 'failed'] as const;
export type CallState = (typeof callStates)[number];

/** As long as ended jobs. */
const keepSeconds = 24 * 60 * 60;
/** Per project; the oldest are deleted. */
const maxOfProject = 1_000;

/** Records of projects' calls, bounded by number and age. */
export class ProjectRecords<R extends ProjectRecord> {
  readonly #collection: Collection<R>;
  readonly #max: number;

  constructor(db: Db, name: string, max = maxOfProject) {
    this.#collection = db.collection(name);
    this.#max = max;
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ createdAt: 1 }, { expireAfterSeconds: keepSeconds });
    await this.#collection.createIndex({ projectId: 1, createdAt: 1 });
  }

  async add(record: R): Promise<void> {
    await withTimeout(this.#collection.insertOne(record as OptionalUnlessRequiredId<R>));
    // The record is stored: the next call deletes what is left.
    await this.#deleteOld(record.projectId).catch(() => {});
  }

  async #deleteOld(projectId: string): Promise<void> {
    const newestFirst = this.#collection.find({ projectId } as Filter<R>).sort({ createdAt: -1 });
    const last = await withTimeout(newestFirst.skip(this.#max).limit(1).next());
    if (last === null) return;
    const old = { projectId, createdAt: { $lte: last.createdAt } } as Filter<R>;
    await withTimeout(this.#collection.deleteMany(old));
  }

  async find(projectId: string, _id: string): Promise<R | null> {
    const found = await withTimeout(this.#collection.findOne({ _id, projectId } as Filter<R>));
    return found as R | null;
  }
}
