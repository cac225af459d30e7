import { type Collection, type Db, type Filter, ObjectId } from 'mongodb';
import {
  createWaitingJob,
  isOpen,
  type JobDocument,
  jobsCollection,
  openJobs,
  purgeHookJobName,
  waitingJobsFilter,
} from './jobs.ts';
import { withTimeout } from './outage.ts';
import { type CallState, type ProjectRecord, ProjectRecords } from './records.ts';

/** The promise of purges: after this time they are in effect in every process that reaches the store. */
export const purgeEffectiveMs = 2_000;
/**
 * Delay before the hook runs. By then no process sends an old image, so a CDN cannot store it
 * again.
 */
const dueAfterMs = 3_000;
/** Delay for a purge that was never confirmed because the process or the store failed. */
const heldMs = 60_000;
/** Maximum waiting hook calls per project; beyond it, a call for all its images replaces them. */
const maxWaiting = 1_000;

/** A hook call that tells a CDN which images a project has purged. */
export interface PurgeHookJob {
  readonly projectId: string;
  /** The tags that its images have in CDNs. */
  readonly tags: readonly string[];
}

interface PurgeRecord extends ProjectRecord {
  /** 0 for all images. */
  readonly sourceCount: number;
  /** The job that calls the purge hook; null if the project has no hook. */
  readonly hook: ObjectId | null;
}

/** Hook call states; `none` if the project has no hook. */
export const hookStates = ['none', 'waiting', 'done', 'failed'] as const;
type HookState = (typeof hookStates)[number];

/** Purges and their hook calls. A purge's id is its project's revision. */
export class PurgeRepository {
  readonly #records: ProjectRecords<PurgeRecord>;
  readonly #jobs: Collection<JobDocument<PurgeHookJob>>;
  readonly #maxWaiting: number;

  constructor(db: Db, most = maxWaiting) {
    this.#records = new ProjectRecords(db, 'purges');
    this.#jobs = db.collection(jobsCollection);
    this.#maxWaiting = most;
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  /**
   * Queues the hook call for an imminent purge. Because this precedes the purge, no kill or outage
   * can lose the call: without `confirm` it runs after a minute, and a call without a purge is
   * harmless.
   *
   * @param projectTag tag of all the project's images
   */
  async hold(job: PurgeHookJob, projectTag: string): Promise<ObjectId> {
    const { projectId } = job;
    const before = ObjectId.createFromTime(Math.floor((Date.now() - heldMs) / 1_000));
    // Excludes calls for purges not yet in effect.
    const confirmed = waitingJobsFilter(purgeHookJobName, projectId, before);
    const waiting = await withTimeout(this.#jobs.countDocuments(confirmed));
    const isFull = waiting >= this.#maxWaiting;
    const data = isFull ? { projectId, tags: [projectTag] } : job;
    const held = createWaitingJob(purgeHookJobName, data, new Date(Date.now() + heldMs));
    await withTimeout(this.#jobs.insertOne(held));
    if (isFull) await withTimeout(this.#jobs.deleteMany(confirmed));
    return held._id;
  }

  /** Records an effective purge, and schedules its hook call, if any, soon. */
  async confirm(id: string, purge: Omit<PurgeRecord, '_id' | 'createdAt'>): Promise<void> {
    const { projectId, hook: _id } = purge;
    const nextRunAt = new Date(Date.now() + dueAfterMs);
    if (_id !== null) {
      await withTimeout(this.#jobs.updateOne({ _id, lockedAt: null }, { $set: { nextRunAt } }));
    }
    await this.#records.add({ ...purge, _id: `${projectId}:${id}`, createdAt: new Date() });
  }

  /** Returns a purge's status. Its fields must match `PurgeStatus` in the OpenAPI document. */
  async find(projectId: string, id: string) {
    const record = await this.#records.find(projectId, `${projectId}:${id}`);
    if (record === null) return null;
    const hook = await this.#findHook(record);
    const { sourceCount, createdAt } = record;
    const isEffective = Date.now() - createdAt.getTime() >= purgeEffectiveMs;
    const isDone = isEffective && hook.status !== 'waiting';
    const status: CallState = hook.status === 'failed' ? 'failed' : isDone ? 'done' : 'accepted';
    return { id, status, sourceCount, hook, createdAt: createdAt.toISOString() };
  }

  /** Returns the hook call's state and its last failure's reason, or an empty reason. */
  async #findHook({
    projectId,
    hook,
  }: PurgeRecord): Promise<{ status: HookState; reason: string }> {
    if (hook === null) return { status: 'none', reason: '' };
    const find = (filter: Filter<JobDocument<PurgeHookJob>>) =>
      withTimeout(this.#jobs.findOne(filter));
    // A later call can cover all the project's images. It is found while it waits or runs.
    const replacement = { name: purgeHookJobName, 'data.projectId': projectId, ...openJobs };
    const job = (await find({ _id: hook })) ?? (await find(replacement));
    const failed = job !== null && (job.failCount ?? 0) > 0;
    const status = job !== null && isOpen(job) ? 'waiting' : failed ? 'failed' : 'done';
    return { status, reason: failed ? (job.failReason ?? '') : '' };
  }
}
