import { type Collection, type Db, MongoServerError } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { writePortably } from './upsert.ts';

/** Numbers by names of letters, which are fields of documents. */
export type StoredCounts = Readonly<Record<string, number>>;

/** A project and a day. */
export interface ProjectDay {
  readonly project: string;
  /** UTC, such as `2026-11-22`. */
  readonly date: string;
}

/** What a writer has counted for a project and a day so far. No count of a writer ever decreases. */
export interface WriterTotals extends ProjectDay {
  /** Letters and digits, the first one a letter. */
  readonly writer: string;
  readonly counts: StoredCounts;
}

/** The counts of a project and a day, by writer. */
export interface DayUsage extends ProjectDay {
  readonly by: ReadonlyMap<string, StoredCounts>;
}

/** The totals of each writer are a field of its own, so no write depends on another one. */
interface UsageDocument {
  readonly _id: string;
  readonly project: string;
  /** The beginning of the day, after which the document expires. */
  readonly day: Date;
  readonly by: Readonly<Record<string, StoredCounts>>;
}

/** The sum of the writers that have ended. */
const ended = 'ended';
const keepDays = 400;
/** Documents that are read at once. */
const pieceLength = 200;
/** No request waits for these writes. */
const withinMs = 10_000;

const idOf = ({ project, date }: ProjectDay): string => `${project}/${date}`;
const dateOf = (day: Date): string => day.toISOString().slice(0, 10);

/** The usage of projects by day, of all processes and machines. */
export class UsageRecords {
  readonly #db: Db;
  readonly #collection: Collection<UsageDocument>;

  constructor(db: Db) {
    this.#db = db;
    this.#collection = db.collection('usage');
  }

  async ensureIndexes(): Promise<void> {
    const expireAfterSeconds = keepDays * 24 * 60 * 60;
    await this.#collection.createIndex({ day: 1 }, { expireAfterSeconds });
    await this.#collection.createIndex({ project: 1, day: 1 });
  }

  /** Stores totals, or rejects. A repeated, late or reordered call has no further effect. */
  async write(totals: readonly WriterTotals[]): Promise<void> {
    await this.#update(
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
   * Adds the totals of writers, which must be stored, to the sum of those that have ended, and removes them. The
   * sum of all is right whether or not this takes effect, unless an unanswered `write` takes effect later.
   */
  async end(totals: readonly WriterTotals[]): Promise<void> {
    await this.#update(
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

  /** Of the given days, those that have counts. */
  async findDays(days: readonly ProjectDay[]): Promise<DayUsage[]> {
    const found: DayUsage[] = [];
    for (let from = 0; from < days.length; from += pieceLength) {
      const ids = days.slice(from, from + pieceLength).map(idOf);
      const documents = this.#collection.find({ _id: { $in: ids } }).toArray();
      found.push(...(await withTimeout(documents)).map(usageOf));
    }
    return found;
  }

  /**
   * Updates of several documents in one command: a tenth of the time of a call for each. Those that fail are
   * repeated once: another process may have inserted the same document.
   *
   * In the order of the ids: FerretDB locks the documents of a command one after the other until its end, and
   * commands with different orders wait for each other.
   */
  async #update(statements: readonly Statement[]): Promise<void> {
    const updates = statements.toSorted((a, b) => (a.q._id < b.q._id ? -1 : 1));
    const failed = await this.#run(updates);
    const again = updates.filter((_, index) => failed.some((error) => error.index === index));
    const [error] = again.length === 0 ? [] : await this.#run(again);
    if (error !== undefined) throw new MongoServerError({ message: error.errmsg, ...error });
  }

  async #run(updates: readonly Statement[]): Promise<readonly WriteError[]> {
    const command = { update: this.#collection.collectionName, updates, ordered: false };
    const reply = writePortably(() => this.#db.command(command));
    const { writeErrors = [] } = await withTimeout(reply, withinMs);
    return writeErrors;
  }
}

/** An update of the command `update`. */
interface Statement {
  readonly q: { readonly _id: string };
  readonly u: object;
  readonly upsert?: true;
}

interface WriteError {
  readonly index: number;
  readonly code: number;
  readonly errmsg: string;
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
