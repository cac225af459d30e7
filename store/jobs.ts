import { createHash } from 'node:crypto';
import type { Agenda } from 'agenda';
import { type Collection, type Db, ObjectId } from 'mongodb';
import { createAgenda, jobsCollection } from './agenda.ts';

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

/** How far a job has come: requests for variants. */
export interface JobCounts {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

/** What a job's `data` holds. */
export interface PrewarmJobData extends PrewarmJob {
  /** Names the work, so that the same is not queued twice. */
  readonly fingerprint: string;
  readonly counts?: JobCounts;
}

export interface QueueStats {
  readonly active: number;
  readonly waiting: number;
  readonly delayed: number;
  readonly failed: number;
  /** How long the oldest job that could run has waited, ms; 0 when none waits. */
  readonly oldestWaitingMs: number;
}

/** The part of Agenda's documents that is read here. */
interface JobDocument {
  readonly name: string;
  readonly data: PrewarmJobData;
  readonly nextRunAt: Date | null;
  readonly lockedAt: Date | null;
  readonly lastFinishedAt: Date | null;
  readonly failCount: number | null;
  /** Who locked it last. */
  readonly lastModifiedBy: string | null;
}

const never = new Date(0);

/** The queue of prewarm jobs, as those who put work into it and those who watch it see it. */
export class JobQueue {
  readonly #db: Db;
  readonly #jobs: Collection<JobDocument>;
  #agenda: Agenda | null = null;

  constructor(db: Db) {
    this.#db = db;
    this.#jobs = db.collection(jobsCollection);
  }

  /** Safe to repeat and for several processes at once. */
  async ensureIndexes(): Promise<void> {
    await this.#jobs.createIndex({ name: 1, nextRunAt: 1 });
    await this.#jobs.createIndex({ name: 1, lockedAt: 1 });
    await this.#jobs.createIndex({ name: 1, failCount: 1 });
    await this.#jobs.createIndex({ 'data.fingerprint': 1 });
  }

  /**
   * Queues jobs; the same work that still waits is not queued again. Two who queue it in the same
   * instant may both succeed where the server does not serialise upserts; doing it twice does no
   * harm.
   */
  async add(jobs: readonly PrewarmJob[]): Promise<void> {
    this.#agenda ??= createAgenda(this.#db);
    await this.#agenda.ready;
    for (const job of jobs) {
      const fingerprint = createHash('sha256').update(JSON.stringify(job)).digest('hex');
      const data: PrewarmJobData = { ...job, fingerprint };
      const waiting = {
        'data.fingerprint': fingerprint,
        lockedAt: null,
        nextRunAt: { $ne: null },
      };
      await this.#agenda
        .create(prewarmJobName, data)
        .unique(waiting, { insertOnly: true })
        .schedule(new Date())
        .save();
    }
  }

  /** Counts by indexed fields, so that it may be asked every second. */
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

  /** Writes down how far a job has come, for whoever looks at it. */
  async setCounts(id: string, counts: JobCounts): Promise<void> {
    await this.#jobs.updateOne({ _id: new ObjectId(id) }, { $set: { 'data.counts': counts } });
  }

  /** Gives back the jobs that a consumer of this name still holds. */
  async release(consumer: string): Promise<void> {
    await this.#jobs.updateMany(
      { name: prewarmJobName, lockedAt: { $gt: never }, lastModifiedBy: consumer },
      { $set: { lockedAt: null, nextRunAt: new Date() } },
    );
  }

  /** Removes jobs that ended, well or badly, before a date; how many. */
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
