import { createHash } from 'node:crypto';
import type { Agenda } from 'agenda';
import { type Collection, type Db, ObjectId } from 'mongodb';
import { createAgenda, jobsCollection } from './agenda.ts';
import { answered } from './deadline.ts';

/** The name of prewarm jobs in the queue. */
export const prewarmJobName = 'prewarm';

/** One source to warm, in every combination of widths and formats. */
export interface PrewarmJob {
  readonly projectId: string;
  readonly source: string;
  /** CSS pixels; empty for the project's own width. */
  readonly widths: readonly number[];
  readonly formats: readonly string[];
  /** Null leaves it to the project, here and below. */
  readonly quality: number | null;
  readonly fit: string | null;
  readonly dpr: number | null;
}

/** Progress of a job: numbers of requested variants. */
export interface JobCounts {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

/** The `data` of a job. */
export interface PrewarmJobData extends PrewarmJob {
  /** Identifies equal jobs, so that the same work is not queued twice. */
  readonly fingerprint: string;
  readonly counts?: JobCounts;
}

export interface QueueStats {
  readonly active: number;
  readonly waiting: number;
  readonly delayed: number;
  readonly failed: number;
  /** Waiting time of the oldest job that is due, in ms; 0 when none is waiting. */
  readonly oldestWaitingMs: number;
}

/** The fields of Agenda's job documents that are used here. */
interface JobDocument {
  readonly name: string;
  readonly data: PrewarmJobData;
  readonly nextRunAt: Date | null;
  readonly lockedAt: Date | null;
  readonly lastFinishedAt: Date | null;
  readonly failCount: number | null;
  /** Name of the last consumer that locked the job. */
  readonly lastModifiedBy: string | null;
}

const never = new Date(0);

/** The queue of prewarm jobs, for producers and for monitoring. */
export class JobQueue {
  readonly #db: Db;
  readonly #jobs: Collection<JobDocument>;
  #agenda: Agenda | null = null;

  constructor(db: Db) {
    this.#db = db;
    this.#jobs = db.collection(jobsCollection);
  }

  /** Idempotent, and safe to run in several processes at once. */
  async ensureIndexes(): Promise<void> {
    await this.#jobs.createIndex({ name: 1, nextRunAt: 1 });
    await this.#jobs.createIndex({ name: 1, lockedAt: 1 });
    await this.#jobs.createIndex({ name: 1, failCount: 1 });
    await this.#jobs.createIndex({ 'data.fingerprint': 1 });
  }

  /**
   * Queues jobs, except those that are already waiting. Two processes that queue the same job at
   * the same time may both succeed where the server does not serialise upserts; running a job twice
   * does no harm.
   */
  async add(jobs: readonly PrewarmJob[]): Promise<void> {
    this.#agenda ??= createAgenda(this.#db);
    await answered(this.#agenda.ready);
    for (const job of jobs) {
      const fingerprint = createHash('sha256').update(JSON.stringify(job)).digest('hex');
      const data: PrewarmJobData = { ...job, fingerprint };
      const waiting = {
        'data.fingerprint': fingerprint,
        lockedAt: null,
        nextRunAt: { $ne: null },
      };
      const added = this.#agenda
        .create(prewarmJobName, data)
        .unique(waiting, { insertOnly: true })
        .schedule(new Date());
      await answered(added.save());
    }
  }

  /** Counts by indexed fields, so it is cheap enough to run every second. */
  async stats(): Promise<QueueStats> {
    const now = new Date();
    const name = prewarmJobName;
    const due = { name, lockedAt: null, nextRunAt: { $gt: never, $lte: now } };
    const [active, waiting, delayed, failed, oldest] = await Promise.all([
      this.#jobs.countDocuments({ name, lockedAt: { $gt: never } }),
      this.#jobs.countDocuments(due),
      this.#jobs.countDocuments({ name, nextRunAt: { $gt: now } }),
      this.#jobs.countDocuments({ name, failCount: { $gt: 0 }, nextRunAt: null, lockedAt: null }),
      this.#jobs
        .find(due, { projection: { nextRunAt: 1 } })
        .sort({ nextRunAt: 1 })
        .limit(1)
        .next(),
    ]);
    const since = oldest?.nextRunAt?.getTime() ?? now.getTime();
    return { active, waiting, delayed, failed, oldestWaitingMs: now.getTime() - since };
  }

  /** Stores the progress of a job, for monitoring. */
  async setCounts(id: string, counts: JobCounts): Promise<void> {
    await this.#jobs.updateOne({ _id: new ObjectId(id) }, { $set: { 'data.counts': counts } });
  }

  /** Unlocks the jobs that a consumer of this name has locked. */
  async release(consumer: string): Promise<void> {
    await this.#jobs.updateMany(
      { name: prewarmJobName, lockedAt: { $gt: never }, lastModifiedBy: consumer },
      { $set: { lockedAt: null, nextRunAt: new Date() } },
    );
  }

  /** Removes jobs that succeeded or failed before a date; returns their number. */
  async removeEnded(before: Date): Promise<number> {
    const { deletedCount } = await this.#jobs.deleteMany({
      name: prewarmJobName,
      nextRunAt: null,
      lockedAt: null,
      lastFinishedAt: { $gt: never, $lt: before },
    });
    return deletedCount;
  }
}
