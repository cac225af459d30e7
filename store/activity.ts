import type { Collection, Db } from 'mongodb';
import { withTimeout } from './outage.ts';
import { bulkUpdate } from './writes.ts';

export interface NameCount {
  readonly name: string;
  readonly count: number;
}

/** Equal failed requests, without secrets. */
export interface StoredFailure {
  /** Time of the last request, Unix ms. */
  readonly at: number;
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  /** '' if the URL does not name a source. */
  readonly source: string;
  /** The image's path and parameters. */
  readonly url: string;
  readonly message: string;
  readonly hint: string;
  /** Id of the last request, for log lines and traces. */
  readonly requestId: string;
  readonly count: number;
}

/** The counts of a process for a project and an interval. */
export interface StoredActivity {
  readonly counts: Readonly<Record<string, number>>;
  readonly durations: readonly { readonly bucket: number; readonly count: number }[];
  readonly sources: readonly NameCount[];
  readonly variants: readonly NameCount[];
  readonly failures: readonly StoredFailure[];
}

/** A project and an interval of a window, such as an hour of the last day. */
export interface ProjectInterval {
  readonly project: string;
  readonly window: string;
  /** Unix ms. */
  readonly start: number;
}

interface WriterActivity extends ProjectInterval {
  /** Letters and digits, starting with a letter. */
  readonly writer: string;
  /** Unix ms. No reader needs the interval after this time. */
  readonly expiresAt: number;
  readonly activity: StoredActivity;
}

/** The activity of a project in an interval, by writer. */
export interface IntervalActivity extends ProjectInterval {
  readonly by: ReadonlyMap<string, StoredActivity>;
}

/** Each writer writes only its own field, so concurrent writes do not conflict. */
interface ActivityDocument {
  readonly _id: string;
  readonly project: string;
  readonly window: string;
  readonly start: Date;
  readonly expiresAt: Date;
  readonly by: Readonly<Record<string, StoredActivity>>;
}

const name = 'activity';

const toId = ({ project, window, start }: ProjectInterval): string =>
  `${project}/${window}/${new Date(start).toISOString()}`;

/** The activity of projects in the last hour and day, of all processes and machines. */
export class ActivityRecords {
  readonly #db: Db;
  readonly #collection: Collection<ActivityDocument>;

  constructor(db: Db) {
    this.#db = db;
    this.#collection = db.collection('activity');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
    await this.#collection.createIndex({ project: 1, start: 1 });
  }

  /** Replaces the writers' stored counts for the intervals. Idempotent. */
  async write(written: readonly WriterActivity[]): Promise<void> {
    await bulkUpdate(
      this.#db,
      name,
      written.map(({ project, window, start, expiresAt, writer, activity }) => ({
        q: { _id: toId({ project, window, start }) },
        u: {
          $set: { [`by.${writer}`]: activity },
          $setOnInsert: {
            project,
            window,
            start: new Date(start),
            expiresAt: new Date(expiresAt),
          },
        },
        upsert: true,
      })),
    );
  }

  /** Returns a project's intervals that start at `from` (Unix ms) or later. */
  async find(project: string, from: number): Promise<IntervalActivity[]> {
    const found = this.#collection.find({ project, start: { $gte: new Date(from) } });
    const documents = await withTimeout(found.toArray());
    return documents.map(({ project, window, start, by }) => ({
      project,
      window,
      start: start.getTime(),
      by: new Map(Object.entries(by)),
    }));
  }
}
