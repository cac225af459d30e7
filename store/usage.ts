import type { Collection, Db } from 'mongodb';
import { withTimeout } from './outage.ts';
import { bulkUpdate, retryOnDuplicateKey } from './writes.ts';

/** Counts by name. A name has letters only, because it is a field of a document. */
export type StoredCounts = Readonly<Record<string, number>>;

export interface ProjectDay {
  readonly project: string;
  /** UTC, such as `2026-11-22`. */
  readonly date: string;
}

/** The counts of a writer for a project and a day so far. They never decrease. */
export interface WriterTotals extends ProjectDay {
  /** Letters and digits, starting with a letter. */
  readonly writer: string;
  readonly counts: StoredCounts;
}

/** The counts of a project and a day, by writer. */
export interface DayUsage extends ProjectDay {
  readonly by: ReadonlyMap<string, StoredCounts>;
  /** Renders of the writers that have ended or are in progress, as they have claimed them. */
  readonly claims: ReadonlyMap<string, number>;
}

/** Each writer writes only its own field, so concurrent writes do not conflict. */
interface UsageDocument {
  readonly _id: string;
  readonly project: string;
  /** Start of the day. The document expires after `keepDays`. */
  readonly day: Date;
  readonly by: Readonly<Record<string, StoredCounts>>;
  readonly claims?: Readonly<Record<string, number>>;
}

const name = 'usage';
const keepDays = 400;

const toId = ({ project, date }: ProjectDay): string => `${project}/${date}`;
const toDate = (day: Date): string => day.toISOString().slice(0, 10);

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

  /** Stores totals or rejects. Idempotent; late or reordered calls have no effect. */
  async write(totals: readonly WriterTotals[]): Promise<void> {
    await bulkUpdate(
      this.#db,
      name,
      totals.map(({ writer, counts, project, date }) => ({
        q: { _id: toId({ project, date }) },
        u: {
          $max: toFields(writer, counts),
          $setOnInsert: { project, day: new Date(date) },
        },
        upsert: true,
      })),
    );
  }

  /**
   * Stores how many renders a writer has finished or started, and returns all writers' usage, in
   * one operation: of two writers, at least the later sees the other's claim.
   */
  async claim(
    { writer, ...day }: Omit<WriterTotals, 'counts'>,
    renders: number,
  ): Promise<DayUsage> {
    const update = {
      $set: { [`claims.${writer}`]: renders },
      $setOnInsert: { project: day.project, day: new Date(day.date), by: {} },
    };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const stored = await withTimeout(
      retryOnDuplicateKey(() =>
        this.#collection.findOneAndUpdate({ _id: toId(day) }, update, options),
      ),
    );
    if (stored === null) throw new Error(`usage has no ${toId(day)}`);
    return toUsage(stored);
  }

  /** Returns a project's days with counts, in order, including both dates. */
  async find(project: string, from: string, to: string): Promise<DayUsage[]> {
    const day = { $gte: new Date(from), $lte: new Date(to) };
    const found = this.#collection.find({ project, day }).sort({ day: 1 });
    return (await withTimeout(found.toArray())).map(toUsage);
  }
}

const toFields = (writer: string, counts: StoredCounts): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) =>
      count === 0 ? [] : [[`by.${writer}.${name}`, count]],
    ),
  );

const toUsage = ({ project, day, by, claims = {} }: UsageDocument): DayUsage => ({
  project,
  date: toDate(day),
  by: new Map(Object.entries(by)),
  claims: new Map(Object.entries(claims)),
});
