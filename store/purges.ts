import { type Collection, type Db, type Filter, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { type CallState, type ProjectRecord, ProjectRecords } from './records.ts';
import {
  isOpen,
  type JobDocument,
  jobsCollection,
  openJobs,
  purgeHookJobName,
  waitingWebhook,
  waitingWebhooksOf,
} from './waiting-jobs.ts';

/** The promise of purges: after this time they are in effect in every process that reaches the store. */
export const purgeEffectiveMs = 2_000;
/** When the hook is called: from then on no process sends an old image, so a CDN cannot store it again. */
const dueAfterMs = 3_000;
/** When the hook is called for a purge that was not confirmed, because the process or the store failed. */
const heldMs = 60_000;
/** Calls of the hook that may wait for a project; more of them are replaced by one for all its images. */
const maxWaiting = 1_000;

/** A call of the hook, which tells a CDN what a project has purged. */
export interface PurgeHookJob {
  readonly projectId: string;
  /** The tags that its images have in CDNs. */
  readonly tags: readonly string[];
}

interface PurgeRecord extends ProjectRecord {
  /** 0 for all images. */
  readonly sourceCount: number;
  /** The job that calls the purge hook; null when there is none. */
  readonly hook: ObjectId | null;
}

/** States of the call of the hook; `none` without a hook. */
export const hookStates = ['none', 'waiting', 'done', 'failed'] as const;
type HookState = (typeof hookStates)[number];

/** The purges of projects, and their calls of the hook. The id of a purge is the revision of its project. */
export class Purges {
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
   * Queues the call of the hook for a purge that is about to take effect. Before the purge, so that no kill and no
   * outage can lose it: without `confirm` it is called after a minute, and a call without a purge does no harm.
   *
   * @param projectTag of all images of the project
   */
  async hold(job: PurgeHookJob, projectTag: string): Promise<ObjectId> {
    const { projectId } = job;
    const before = ObjectId.createFromTime(Math.floor((Date.now() - heldMs) / 1_000));
    // Not those of purges that have not taken effect.
    const confirmed = { waitingKey: waitingWebhooksOf(purgeHookJobName, projectId, before) };
    const waiting = await withTimeout(this.#jobs.countDocuments(confirmed));
    const isFull = waiting >= this.#maxWaiting;
    const data = isFull ? { projectId, tags: [projectTag] } : job;
    const held = waitingWebhook(purgeHookJobName, data, new Date(Date.now() + heldMs));
    await withTimeout(this.#jobs.insertOne(held));
    if (isFull) await withTimeout(this.#jobs.deleteMany(confirmed));
    return held._id;
  }

  /** Makes the call of the hook, if any, due soon after its purge, which has taken effect, and remembers the purge. */
  async confirm(id: string, purge: Omit<PurgeRecord, '_id' | 'createdAt'>): Promise<void> {
    const { projectId, hook: _id } = purge;
    const nextRunAt = new Date(Date.now() + dueAfterMs);
    if (_id !== null) {
      await withTimeout(this.#jobs.updateOne({ _id, lockedAt: null }, { $set: { nextRunAt } }));
    }
    await this.#records.add({ ...purge, _id: `${projectId}:${id}`, createdAt: new Date() });
  }

  /** The status of a purge, which must have the fields of `PurgeStatus` in the OpenAPI document. */
  async find(projectId: string, id: string) {
    const record = await this.#records.find(projectId, `${projectId}:${id}`);
    if (record === null) return null;
    const hook = await this.#hookOf(record);
    const { sourceCount, createdAt } = record;
    const isEffective = Date.now() - createdAt.getTime() >= purgeEffectiveMs;
    const isDone = isEffective && hook.status !== 'waiting';
    const status: CallState = hook.status === 'failed' ? 'failed' : isDone ? 'done' : 'accepted';
    return { id, status, sourceCount, hook, createdAt: createdAt.toISOString() };
  }

  /** The state of the call of the hook, and the reason of its last failure, or empty. */
  async #hookOf({ projectId, hook }: PurgeRecord): Promise<{ status: HookState; reason: string }> {
    if (hook === null) return { status: 'none', reason: '' };
    const find = (filter: Filter<JobDocument<PurgeHookJob>>) =>
      withTimeout(this.#jobs.findOne(filter));
    // A later call may have named all images of the project. It is found while it waits or runs.
    const replacement = { name: purgeHookJobName, 'data.projectId': projectId, ...openJobs };
    const job = (await find({ _id: hook })) ?? (await find(replacement));
    const failed = job !== null && (job.failCount ?? 0) > 0;
    const status = job !== null && isOpen(job) ? 'waiting' : failed ? 'failed' : 'done';
    return { status, reason: failed ? (job.failReason ?? '') : '' };
  }
}
