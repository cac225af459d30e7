import type { Collection, Db } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { updateTogether } from './updates.ts';

/** Counts by name. A name has letters only, because it is a field of a document. */
export type StoredCounts = Readonly<Record<string, number>>;

/** A project and a day. */
export interface ProjectDay {
  readonly project: string;
  /** UTC, such as `2026-11-22`. */
  readonly date: string;
}

/** The counts of a writer for a project and a day so far. They never decrease. */
export interface WriterTotals extends ProjectDay {
  /** Letters and digits, the first one a letter. */
  readonly writer: string;
  readonly counts: StoredCounts;
}

/** The counts of a project and a day, by writer. */
export interface DayUsage extends ProjectDay {
  readonly by: ReadonlyMap<string, StoredCounts>;
}

/** Each writer has its own field, so that no write depends on another one. */
interface UsageDocument {
  readonly _id: string;
  readonly project: string;
  /** The beginning of the day. The document expires `keepDays` after it. */
  readonly day: Date;
  readonly by: Readonly<Record<string, StoredCounts>>;
}

const name = 'usage';
/** The field with the sum of the writers that have ended. */
const ended = 'ended';
const keepDays = 400;
/** Documents in one query. */
const pieceLength = 200;

const idOf = ({ project, date }: ProjectDay): string => `${project}/${date}`;
const dateOf = (day: Date): string => day.toISOString().slice(0, 10);

/** The usage of projects by day, of all processes and machines. */
export class UsageRecords {
  readonly #db: Db;
  readonly #collection: Collection<UsageDocument>;

  constructor(db: Db) {
    this.#db = db;
    this.#collection = db.collection(name);
  }

  async ensureIndexes(): Promise<void> {
    const expireAfterSeconds = keepDays * 24 * 60 * 60;
    await this.#collection.createIndex({ day: 1 }, { expireAfterSeconds });
    await this.#collection.createIndex({ project: 1, day: 1 });
  }

  /** Stores totals, or rejects. A repeated, late or reordered call has no further effect. */
  async write(totals: readonly WriterTotals[]): Promise<void> {
    await updateTogether(
      this.#db,
      name,
      totals.map(({ writer, counts, project, date }) => ({
        q: { _id: idOf({ project, date }) },
        u: {
          $max: fieldsOf(writer, counts),
          $setOnInsert: { project, day: new Date(date) },
        },
        upsert: true,
      })),
    );
  }

  /**
   * Moves the totals of writers, which must be stored, to the sum of the ended writers. The sum over all writers
   * does not change, unless an earlier `write` without a response takes effect later.
   */
  async end(totals: readonly WriterTotals[]): Promise<void> {
    await updateTogether(
      this.#db,
      name,
      totals.map(({ writer, counts, ...day }) => ({
        q: { _id: idOf(day), [`by.${writer}`]: { $ne: null } },
        u: { $inc: fieldsOf(ended, counts), $unset: { [`by.${writer}`]: '' } },
      })),
    );
  }

  /** The days of a project that have counts, in order; both dates are included. */
  async find(project: string, from: string, to: string): Promise<DayUsage[]> {
    const day = { $gte: new Date(from), $lte: new Date(to) };
    const found = this.#collection.find({ project, day }).sort({ day: 1 });
    return (await withTimeout(found.toArray())).map(usageOf);
  }

  /** Those of the given days that have counts. */
  async findDays(days: readonly ProjectDay[]): Promise<DayUsage[]> {
    const found: DayUsage[] = [];
    for (let from = 0; from < days.length; from += pieceLength) {
      const ids = days.slice(from, from + pieceLength).map(idOf);
      const documents = this.#collection.find({ _id: { $in: ids } }).toArray();
      found.push(...(await withTimeout(documents)).map(usageOf));
    }
    return found;
  }
}

const fieldsOf = (writer: string, counts: StoredCounts): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) =>
      count === 0 ? [] : [[`by.${writer}.${name}`, count]],
    ),
  );

const usageOf = ({ project, day, by }: UsageDocument): DayUsage => ({
  project,
  date: dateOf(day),
  by: new Map(Object.entries(by)),
});
