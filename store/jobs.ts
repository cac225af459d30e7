import { createHash } from 'node:crypto';
import type { Db, Filter, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { JobTurns, turnsAfter } from './job-turns.ts';
import { isDuplicateKey, writePortably } from './upsert.ts';
import {
  createWaitingJob,
  epoch,
  type JobDocument,
  type Jobs,
  jobNames,
  jobsCollection,
  lockLifetimeMs,
  openJobs,
  type PrewarmJob,
  type PrewarmJobData,
  prewarmJobName,
  releaseJob,
  waitingJobsFilter,
} from './waiting-jobs.ts';

export interface QueueStats {
  /** Jobs that a worker runs. */
  readonly active: number;
  /** Due jobs, including jobs left by dead workers. */
  readonly waiting: number;
  readonly delayed: number;
  readonly failed: number;
  /** How long the oldest due job has waited, in ms; 0 if the queue is empty. */
  readonly oldestWaitingMs: number;
}

/** A queued job, which can be deleted if an equal job waits. */
export interface QueuedJob {
  readonly id: ObjectId;
  readonly fingerprint: string;
}

/** The call would exceed the project's maximum of waiting jobs, so it added no job. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  readonly waiting: number;
  readonly added: number;
  readonly maxWaiting: number;

  /** @param added the number of jobs in the call that do not wait yet */
  constructor(waiting: number, added: number, maxWaiting: number) {
    super(`${waiting} jobs of the project wait; ${added} more exceed the maximum`);
    this.waiting = waiting;
    this.added = added;
    this.maxWaiting = maxWaiting;
  }
}

/** The queue of prewarm jobs, for producers and for monitoring. */
export class JobQueue {
  readonly #jobs: Jobs;
  readonly #turns: JobTurns;
  readonly #maxWaiting: number;
  /** By project: the number of jobs that this process is adding, and their last turn. */
  readonly #adding = new Map<string, { jobs: number; turn: number }>();

  /**
   * @param maxWaiting maximum waiting jobs per project. Processes that add jobs concurrently can
   *   exceed it by the number of jobs that each adds.
   */
  constructor(db: Db, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#maxWaiting = maxWaiting;
    this.#jobs = db.collection(jobsCollection);
    this.#turns = new JobTurns(this.#jobs, prewarmJobName);
  }

  /** Idempotent, and safe to run in several processes at once. */
  async ensureIndexes(): Promise<void> {
    // Sparse, because only waiting jobs contain the field.
    await this.#jobs.createIndex({ waitingKey: 1 }, { unique: true, sparse: true });
    await this.#jobs.createIndex({ name: 1, turn: 1, nextRunAt: 1 });
    await this.#jobs.createIndex({ name: 1, 'data.projectId': 1, turn: -1 });
    await this.#jobs.createIndex({ name: 1, lockedAt: 1 });
    await this.#jobs.createIndex({ name: 1, nextRunAt: 1, lockedAt: 1, failCount: 1 });
  }

  /**
   * Queues a project's jobs, except jobs that already wait.
   * @returns the queued jobs, including jobs that waited already
   * @throws QueueFull
   */
  async add(jobs: readonly PrewarmJob[]): Promise<QueuedJob[]> {
    const documents = jobs
      .map(withFingerprint)
      .map((data) => createWaitingJob(prewarmJobName, data, new Date()));
    const wanted = new Map(documents.map((job) => [job.waitingKey, job]));
    const equal = this.#jobs.find({ waitingKey: { $in: [...wanted.keys()] } });
    const waiting = await withTimeout(equal.toArray());
    for (const { waitingKey } of waiting) wanted.delete(waitingKey ?? '');
    return [...waiting, ...(await this.#addNew([...wanted.values()]))].map(toQueued);
  }

  async #addNew(jobs: readonly JobDocument[]): Promise<readonly JobDocument[]> {
    const [first] = jobs;
    if (first === undefined) return [];
    const { projectId } = first.data;
    const adding = this.#adding.get(projectId) ?? { jobs: 0, turn: 0 };
    this.#adding.set(projectId, adding);
    adding.jobs += jobs.length;
    // Read before the count, which can miss jobs of a call that ends during it.
    const { jobs: beingAdded } = adding;
    try {
      const filter = waitingJobsFilter(prewarmJobName, projectId);
      const waiting = await withTimeout(this.#jobs.countDocuments(filter));
      // Counts the jobs twice that earlier calls have already stored.
      if (waiting + beingAdded > this.#maxWaiting) {
        throw new QueueFull(waiting, jobs.length, this.#maxWaiting);
      }
      const last = await withTimeout(this.#turns.last(projectId));
      const data = jobs.map((job) => job.data);
      const turns = turnsAfter(Math.max(last, adding.turn), data);
      adding.turn = turns.at(-1) ?? 0;
      const inserted = jobs.map((job, i) => this.#insert({ ...job, turn: turns[i] ?? 0 }));
      await withTimeout(Promise.all(inserted));
      return jobs;
    } finally {
      adding.jobs -= jobs.length;
      if (adding.jobs === 0) this.#adding.delete(projectId);
    }
  }

  async #insert(job: JobDocument): Promise<void> {
    try {
      await writePortably(() => this.#jobs.insertOne(job));
    } catch (error) {
      // Another process has queued the same job in the meantime.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** The number of prewarm jobs of a project that wait or run. */
  open(projectId: string): Promise<number> {
    const ofProject = { name: prewarmJobName, 'data.projectId': projectId };
    return withTimeout(this.#jobs.countDocuments({ ...ofProject, ...openJobs }));
  }

  /**
   * Counts a kind's jobs through indexes, fast enough to run every second.
   * @throws StoreUnavailable soon, so that probes and scrapes end before their own timeout
   */
  async stats(name = prewarmJobName): Promise<QueueStats> {
    const now = new Date();
    const expiredAt = new Date(now.getTime() - lockLifetimeMs);
    const due = { name, nextRunAt: { $gt: epoch, $lte: now } };
    const abandoned = { name, lockedAt: { $gt: epoch, $lte: expiredAt } };
    const first = (filter: Filter<JobDocument>, field: 'nextRunAt' | 'lockedAt') =>
      this.#jobs
        .find(filter, { projection: { [field]: 1 } })
        .sort({ [field]: 1 })
        .limit(1)
        .next();
    const counts = Promise.all([
      this.#jobs.countDocuments({ name, lockedAt: { $gt: expiredAt } }),
      this.#jobs.countDocuments(due),
      this.#jobs.countDocuments(abandoned),
      this.#jobs.countDocuments({ name, nextRunAt: { $gt: now } }),
      this.#jobs.countDocuments({ name, nextRunAt: null, lockedAt: null, failCount: { $gt: 0 } }),
      first(due, 'nextRunAt'),
      first(abandoned, 'lockedAt'),
    ]);
    const [active, dueCount, abandonedCount, delayed, failed, oldestDue, oldestAbandoned] =
      await withTimeout(counts);
    const dueMs = now.getTime() - (oldestDue?.nextRunAt ?? now).getTime();
    const abandonedMs = expiredAt.getTime() - (oldestAbandoned?.lockedAt ?? expiredAt).getTime();
    const waiting = dueCount + abandonedCount;
    return { active, waiting, delayed, failed, oldestWaitingMs: Math.max(dueMs, abandonedMs) };
  }

  /** Releases the jobs that a consumer has locked, of all kinds. */
  async release(consumer: string): Promise<void> {
    const locked = {
      name: { $in: jobNames },
      lockedAt: { $gt: epoch },
      lastModifiedBy: consumer,
    };
    for (const job of await this.#jobs.find(locked).toArray()) {
      await releaseJob(this.#jobs, job, consumer);
    }
  }

  /** @returns the number of removed jobs, of all kinds */
  async removeEnded(before: Date): Promise<number> {
    const { deletedCount } = await this.#jobs.deleteMany({
      name: { $in: jobNames },
      nextRunAt: null,
      lockedAt: null,
      lastFinishedAt: { $gt: epoch, $lt: before },
    });
    return deletedCount;
  }
}

function withFingerprint(job: PrewarmJob): PrewarmJobData {
  const fingerprint = createHash('sha256').update(JSON.stringify(job)).digest('hex');
  return { ...job, fingerprint };
}

const toQueued = ({ _id: id, data }: JobDocument): QueuedJob => ({
  id,
  fingerprint: data.fingerprint,
});
