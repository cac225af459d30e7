import type { Collection, Db, WithId } from 'mongodb';
import {
  callbackJobName,
  createWaitingJob,
  isOpen,
  type JobDocument,
  jobsCollection,
  waitingJobsFilter,
} from './jobs.ts';
import { withTimeout } from './outage.ts';

/** Kinds of calls that can report their end to a client. */
export const callbackSubjects = ['prewarm', 'purge'] as const;

/** A callback request that reports the end of a call to a client. */
export interface CallbackJob {
  readonly projectId: string;
  readonly url: string;
  /** The kind of call. */
  readonly subject: (typeof callbackSubjects)[number];
  /** The call's id. */
  readonly id: string;
}

export const callbackStates = ['waiting', 'done', 'failed'] as const;

/** Progress of a callback request. */
export interface Delivery {
  readonly id: string;
  readonly subject: CallbackJob['subject'];
  readonly callId: string;
  /** Without its query. */
  readonly url: string;
  readonly status: (typeof callbackStates)[number];
  readonly failureCount: number;
  /** The last attempt's error; null if it has not failed. */
  readonly reason: string | null;
  readonly createdAt: Date;
  /** End of the last attempt. */
  readonly endedAt: Date | null;
}

/** The deliveries in a list. */
const maxDeliveries = 50;

/** Maximum waiting callbacks per project. */
const maxWaiting = 100;

/** A job that waits until its call has ended. */
export const createCallbackJob = (data: CallbackJob): JobDocument<CallbackJob> => ({
  ...createWaitingJob(callbackJobName, data, new Date()),
  receiver: new URL(data.url).host,
});

/** The queue of requests to clients. Each waits until its call has ended. */
export class Callbacks {
  readonly #jobs: Collection<JobDocument<CallbackJob>>;
  readonly #maxWaiting: number;

  constructor(db: Db, most = maxWaiting) {
    this.#jobs = db.collection(jobsCollection);
    this.#maxWaiting = most;
  }

  /** Returns whether a project can add a callback. Concurrent calls can exceed the maximum slightly. */
  async hasRoom(projectId: string): Promise<boolean> {
    const waiting = this.#jobs.countDocuments(waitingJobsFilter(callbackJobName, projectId));
    return (await withTimeout(waiting)) < this.#maxWaiting;
  }

  async add(data: CallbackJob): Promise<void> {
    await withTimeout(this.#jobs.insertOne(createCallbackJob(data)));
  }

  /** The last requests of a project that the queue has, the newest first. */
  async latest(projectId: string): Promise<Delivery[]> {
    const filter = { name: callbackJobName, 'data.projectId': projectId };
    const found = this.#jobs.find(filter).sort({ _id: -1 }).limit(maxDeliveries);
    return (await withTimeout(found.toArray())).map(toDelivery);
  }
}

function toDelivery(job: WithId<JobDocument<CallbackJob>>): Delivery {
  const { _id, data, failedAt, failReason, failCount, lastFinishedAt } = job;
  const { origin, pathname } = new URL(data.url);
  // An attempt that only found the call still running does not count as a failure.
  const hasFailed = failedAt !== null && failedAt >= (lastFinishedAt ?? failedAt);
  return {
    id: String(_id),
    subject: data.subject,
    callId: data.id,
    url: origin + pathname,
    status: isOpen(job) ? 'waiting' : hasFailed ? 'failed' : 'done',
    failureCount: failCount ?? 0,
    reason: hasFailed ? failReason : null,
    createdAt: _id.getTimestamp(),
    endedAt: failedAt === null && isOpen(job) ? null : lastFinishedAt,
  };
}
