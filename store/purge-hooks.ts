import { type Collection, type Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import {
  type JobDocument,
  jobsCollection,
  purgeHookJobName,
  waitingWebhook,
  waitingWebhooksOf,
} from './waiting-jobs.ts';

/** A request that tells a CDN what a project has purged. */
export interface PurgeHookJob {
  readonly projectId: string;
  /** The tags that its images have in CDNs. */
  readonly tags: readonly string[];
}

/** From then on no process sends an old image, so a CDN cannot store it again. */
const dueAfterMs = 3_000;
/** When a request is due whose purge was not confirmed, because the process or the store failed. */
const heldMs = 60_000;
/** Requests of a project that may wait; more of them are replaced by one for all its images. */
const maxWaiting = 1_000;

/** The queue of requests to the purge hook, for the processes that purge. */
export class PurgeHooks {
  readonly #jobs: Collection<JobDocument<PurgeHookJob>>;
  readonly #maxWaiting: number;

  constructor(db: Db, most = maxWaiting) {
    this.#jobs = db.collection(jobsCollection);
    this.#maxWaiting = most;
  }

  /**
   * Queues the request of a purge that is about to take effect. Before the purge, so that no kill and no outage
   * can lose it: without `confirm` it is sent after a minute, and a request without a purge does no harm.
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

  /** Makes a request due soon after its purge, which has taken effect. */
  async confirm(_id: ObjectId): Promise<void> {
    const nextRunAt = new Date(Date.now() + dueAfterMs);
    await withTimeout(this.#jobs.updateOne({ _id, lockedAt: null }, { $set: { nextRunAt } }));
  }
}
