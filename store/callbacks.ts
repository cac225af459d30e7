import { type Collection, type Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import {
  callbackJobName,
  type JobDocument,
  jobsCollection,
  waitingJob,
  waitingWebhooksOf,
  webhookKeyOf,
} from './waiting-jobs.ts';

export { callbackJobName } from './waiting-jobs.ts';

/** A request that tells a client that its call has ended. */
export interface CallbackJob {
  readonly projectId: string;
  readonly url: string;
  /** What was called. */
  readonly subject: 'prewarm' | 'purge';
  /** The id of the call. */
  readonly id: string;
}

/** Requests of a project that may wait. */
const maxWaiting = 100;

/** A project has too many waiting requests. */
export class CallbacksFull extends Error {
  override readonly name = 'CallbacksFull';
}

/** The queue of requests to clients. Each waits until its call has ended. */
export class Callbacks {
  readonly #jobs: Collection<JobDocument<CallbackJob>>;
  readonly #maxWaiting: number;

  constructor(db: Db, most = maxWaiting) {
    this.#jobs = db.collection(jobsCollection);
    this.#maxWaiting = most;
  }

  /**
   * Concurrent calls may exceed the maximum by a few.
   * @throws CallbacksFull
   */
  async requireRoom(projectId: string): Promise<void> {
    const filter = { waitingKey: waitingWebhooksOf(callbackJobName, projectId) };
    const waiting = await withTimeout(this.#jobs.countDocuments(filter));
    if (waiting >= this.#maxWaiting) throw new CallbacksFull(`${waiting} requests wait`);
  }

  async add(data: CallbackJob): Promise<void> {
    const _id = new ObjectId();
    const waitingKey = webhookKeyOf(callbackJobName, data.projectId, _id);
    const { host: receiver } = new URL(data.url);
    const waiting = waitingJob(callbackJobName, data, new Date());
    const job = { ...waiting, _id, waitingKey, receiver };
    await withTimeout(this.#jobs.insertOne(job));
  }
}
