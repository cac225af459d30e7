import { type Collection, type Filter, ObjectId } from 'mongodb';
import { isDuplicateKey, writePortably } from './upsert.ts';

export const prewarmJobName = 'prewarm';
export const purgeHookJobName = 'purge hook';
export const callbackJobName = 'callback';
/** The kinds of jobs that a worker takes from the queue. */
export const jobNames = [prewarmJobName, purgeHookJobName, callbackJobName];

export const jobsCollection = 'jobs';

/** A worker renews the lock of a job that it runs. One that is older is of a worker that died, ms. */
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
  /** Only in waiting jobs, with a unique index: see {@link toWaitingKey}. */
  readonly waitingKey?: string;
  /** Host and port that a callback calls. */
  readonly receiver?: string;
  /** The claim order; only in due waiting jobs. See job-turns.ts. */
  readonly turn?: number | null;
}

export type Jobs = Collection<JobDocument>;

/** Earlier than any date of a job: `$gt` with it excludes null and missing fields. */
export const epoch = new Date(0);

export const openJobs = { $or: [{ nextRunAt: { $ne: null } }, { lockedAt: { $ne: null } }] };

export const isOpen = ({ nextRunAt, lockedAt }: Pick<JobDocument, 'nextRunAt' | 'lockedAt'>) =>
  nextRunAt !== null || lockedAt !== null;

/** A project's waiting jobs of a kind have keys with this start. */
const toKeyPrefix = (name: string, projectId: string | undefined): string =>
  name === prewarmJobName ? `${projectId}:` : `${name}:${projectId}:`;

/**
 * Returns a waiting job's key: equal for equal prewarm jobs of a project, and unique per webhook, in
 * order of age.
 *
 * @param data operators can create jobs with any data in the workbench
 */
export const toWaitingKey = (
  name: string,
  data: Partial<PrewarmJobData> | undefined,
  id: ObjectId,
): string => toKeyPrefix(name, data?.projectId) + (data?.fingerprint ?? id.toHexString());

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
    waitingKey: toWaitingKey(name, data, _id),
  } as const satisfies JobDocument<D>;
}

/**
 * Selects a project's waiting jobs of a kind, by the index on `waitingKey`.
 *
 * @param before the id of a later webhook
 */
export function waitingJobsFilter(name: string, projectId: string, before?: ObjectId) {
  const prefix = toKeyPrefix(name, projectId);
  // The semicolon follows the colon in ASCII, so it ends the prefix's range.
  const end = before === undefined ? `${prefix.slice(0, -1)};` : prefix + before.toHexString();
  return { waitingKey: { $gte: prefix, $lt: end } };
}

/**
 * Returns a job to the waiting state, or deletes it if an equal job waits already.
 * @returns whether a document matched the filter
 */
export async function requeue(
  jobs: Jobs,
  filter: Filter<JobDocument> & { readonly _id: ObjectId },
  { name, data }: { readonly name: string; readonly data: PrewarmJobData | undefined },
  fields: Partial<JobDocument>,
): Promise<boolean> {
  const waitingKey = toWaitingKey(name, data, filter._id);
  try {
    const { matchedCount } = await writePortably(() =>
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
  jobs: Jobs,
  job: Pick<JobDocument, '_id' | 'name' | 'data'>,
  consumer: string,
) {
  const locked = { _id: job._id, lockedAt: { $gt: epoch }, lastModifiedBy: consumer };
  await requeue(jobs, locked, job, { lockedAt: null, nextRunAt: new Date() });
}
