import type { Collection, Filter, ObjectId } from 'mongodb';
import { isDuplicateKey, writePortably } from './upsert.ts';

/** The name of prewarm jobs in the queue. */
export const prewarmJobName = 'prewarm';

export const jobsCollection = 'jobs';

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

/** Agenda's job documents, as far as they are used here, and the queue's own fields. */
export interface JobDocument {
  readonly _id: ObjectId;
  readonly name: string;
  readonly type: 'normal';
  readonly priority: number;
  readonly data: PrewarmJobData;
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
  /** Only in jobs that wait, which it makes unique: see {@link waitingKeyOf}. */
  readonly waitingKey?: string;
  /** Only in jobs that wait and are due: the order in which they are taken; see turns.ts. */
  readonly turn?: number | null;
}

export type Jobs = Collection<JobDocument>;

/** Earlier than any date of a job. Comparisons with it select dates and neither null nor missing. */
export const never = new Date(0);

/** The value of `waitingKey`: all of a project's begin with its id and a colon. */
export function waitingKeyOf(data: Partial<PrewarmJobData> | undefined, id?: ObjectId): string {
  // A job that an operator created in the workbench may have any data.
  return `${data?.projectId}:${data?.fingerprint ?? id?.toHexString()}`;
}

/** The filter for a project's waiting jobs, in an index on `waitingKey`. */
export const waitingOf = (projectId: string): Filter<JobDocument> => ({
  // A semicolon follows the colon.
  waitingKey: { $gte: `${projectId}:`, $lt: `${projectId};` },
});

/**
 * Updates a job so that it waits. If the same work waits already, as another job, then that one
 * replaces this one, which is deleted.
 * @returns whether a document matched the filter
 */
export async function makeWait(
  jobs: Jobs,
  filter: Filter<JobDocument> & { readonly _id: ObjectId },
  data: PrewarmJobData | undefined,
  fields: Partial<JobDocument>,
): Promise<boolean> {
  const waitingKey = waitingKeyOf(data, filter._id);
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

/** Ends a consumer's lock of a job, so that the job is done again at once. */
export async function giveBack(
  jobs: Jobs,
  { _id, data }: Pick<JobDocument, '_id' | 'data'>,
  consumer: string,
) {
  const locked = { _id, lockedAt: { $gt: never }, lastModifiedBy: consumer };
  await makeWait(jobs, locked, data, { lockedAt: null, nextRunAt: new Date() });
}
