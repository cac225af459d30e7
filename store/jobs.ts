import { type Collection, type Db, type Filter, ObjectId } from 'mongodb';
import { withTimeout } from './outage.ts';
import { isDuplicateKey, retryOnDeadlock } from './writes.ts';

export const prewarmJobName = 'prewarm';
export const purgeHookJobName = 'purge hook';
export const callbackJobName = 'callback';
/** The kinds of jobs that a worker takes from the queue. */
export const jobNames = [prewarmJobName, purgeHookJobName, callbackJobName];

export const jobsCollection = 'jobs';

/**
 * A worker renews the lock of each job that it runs. An older lock belongs to a worker that died or
 * cannot reach the store, so any worker can take the job. In ms.
 */
export const lockLifetimeMs = 8_000;

/** One source to warm, in all variants. */
export interface PrewarmJob {
  readonly projectId: string;
  readonly source: string;
  /** The parameters of images as queries, sorted. */
  readonly variants: readonly string[];
}

/** Numbers of variants. */
export interface JobCounts {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

export interface PrewarmJobData extends PrewarmJob {
  /** Identifies equal jobs, which are queued once. */
  readonly fingerprint: string;
  readonly counts?: JobCounts;
}

/** Agenda's job document (the fields in use here) with the queue's own fields. */
export interface JobDocument<D = PrewarmJobData> {
  readonly _id: ObjectId;
  readonly name: string;
  readonly type: 'normal';
  readonly priority: number;
  readonly data: D;
  /** When the job is due; null while it runs and after its end. */
  readonly nextRunAt: Date | null;
  readonly lockedAt: Date | null;
  readonly lastRunAt: Date | null;
  readonly lastFinishedAt: Date | null;
  readonly failedAt: Date | null;
  readonly failCount: number | null;
  readonly failReason: string | null;
  readonly progress: number | null;
  readonly disabled: boolean | null;
  /** Name of the last consumer that locked the job. */
  readonly lastModifiedBy: string | null;
  /** Only in waiting jobs, with a unique index: see {@link dedupeKey}. */
  readonly waitingKey?: string;
  /** Host and port that a callback calls. */
  readonly receiver?: string;
}

export type JobCollection = Collection<JobDocument>;

/** Earlier than any date of a job: `$gt` with it excludes null and missing fields. */
export const epoch = new Date(0);

export const openJobs = { $or: [{ nextRunAt: { $ne: null } }, { lockedAt: { $ne: null } }] };

export const isOpen = ({ nextRunAt, lockedAt }: Pick<JobDocument, 'nextRunAt' | 'lockedAt'>) =>
  nextRunAt !== null || lockedAt !== null;

/** Start of the keys of a project's waiting jobs of a kind. */
const keyPrefix = (name: string, projectId = ''): string => `${name}:${projectId}:`;

/**
 * Returns a waiting job's key: equal for equal prewarm jobs of a project, and unique per webhook, in
 * order of age.
 *
 * @param data operators can create jobs with any data in the workbench
 */
export const dedupeKey = (
  name: string,
  data: Partial<PrewarmJobData> | undefined,
  id: ObjectId,
): string => keyPrefix(name, data?.projectId) + (data?.fingerprint ?? id.toHexString());

/** Creates a job that waits until it is due, in the form of Agenda's documents. */
export function createWaitingJob<D extends { readonly projectId: string }>(
  name: string,
  data: D,
  nextRunAt: Date,
) {
  const _id = new ObjectId();
  return {
    name,
    type: 'normal',
    priority: 0,
    data,
    nextRunAt,
    lockedAt: null,
    lastRunAt: null,
    lastFinishedAt: null,
    failedAt: null,
    failCount: null,
    failReason: null,
    progress: null,
    disabled: null,
    lastModifiedBy: null,
    _id,
    waitingKey: dedupeKey(name, data, _id),
  } as const satisfies JobDocument<D>;
}

/** Selects the waiting jobs of a kind, or those of the projects after one by id, by `waitingKey`. */
export const waitingJobsAfter = (name: string, projectId = '') => ({
  waitingKey: { $gte: projectId === '' ? `${name}:` : `${name}:${projectId};`, $lt: `${name};` },
});

/**
 * Selects a project's waiting jobs of a kind, by the index on `waitingKey`.
 *
 * @param before the id of a later webhook
 */
export function waitingJobsFilter(name: string, projectId: string, before?: ObjectId) {
  const prefix = keyPrefix(name, projectId);
  // The semicolon follows the colon in ASCII, so it ends the prefix's range.
  const end = before === undefined ? `${prefix.slice(0, -1)};` : prefix + before.toHexString();
  return { waitingKey: { $gte: prefix, $lt: end } };
}

/**
 * Returns a job to the waiting state, or deletes it if an equal job waits already.
 * @returns whether a document matched the filter
 */
export async function requeue(
  jobs: JobCollection,
  filter: Filter<JobDocument> & { readonly _id: ObjectId },
  { name, data }: { readonly name: string; readonly data: PrewarmJobData | undefined },
  fields: Partial<JobDocument>,
): Promise<boolean> {
  const waitingKey = dedupeKey(name, data, filter._id);
  try {
    const { matchedCount } = await retryOnDeadlock(() =>
      jobs.updateOne(filter, { $set: { ...fields, waitingKey } }),
    );
    return matchedCount === 1;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const { deletedCount } = await jobs.deleteMany(filter);
    return deletedCount === 1;
  }
}

/** Releases a consumer's lock, which makes the job due immediately. */
export async function releaseJob(
  jobs: JobCollection,
  job: Pick<JobDocument, '_id' | 'name' | 'data'>,
  consumer: string,
) {
  const locked = { _id: job._id, lockedAt: { $gt: epoch }, lastModifiedBy: consumer };
  await requeue(jobs, locked, job, { lockedAt: null, nextRunAt: new Date() });
}

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

/** The jobs of all kinds, for workers and for monitoring. */
export class JobQueue {
  readonly #jobs: JobCollection;

  constructor(db: Db) {
    this.#jobs = db.collection(jobsCollection);
  }

  /** Idempotent, and safe to run in several processes at once. */
  async ensureIndexes(): Promise<void> {
    // Sparse, because only waiting jobs contain the field.
    await this.#jobs.createIndex({ waitingKey: 1 }, { unique: true, sparse: true });
    await this.#jobs.createIndex({ name: 1, 'data.projectId': 1, nextRunAt: 1 });
    await this.#jobs.createIndex({ name: 1, lockedAt: 1 });
    await this.#jobs.createIndex({ name: 1, nextRunAt: 1, lockedAt: 1, failCount: 1 });
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
