import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db, ObjectId } from 'mongodb';
import { type CallbackJob, createCallbackJob } from './callbacks.ts';
import { newPrewarmId } from './identifiers.ts';
import {
  createWaitingJob,
  epoch,
  type JobCollection,
  type JobDocument,
  jobsCollection,
  type PrewarmJob,
  type PrewarmJobData,
  prewarmJobName,
  waitingJobsFilter,
} from './jobs.ts';
import { StoreUnavailable, withTimeout } from './outage.ts';
import { type CallState, type ProjectRecord, ProjectRecords } from './records.ts';
import { isDuplicateKey, retryOnDeadlock } from './writes.ts';

/** A call that prewarms sources. */
export interface PrewarmCall {
  readonly projectId: string;
  readonly sources: readonly string[];
  /** The parameters of images as queries, sorted. */
  readonly variants: readonly string[];
  /** Receives the call's end; null for none. */
  readonly callbackUrl: string | null;
}

/** A job of a call; it can be deleted if an equal job waits. */
interface QueuedJob {
  readonly id: ObjectId;
  readonly fingerprint: string;
}

interface PrewarmRecord extends ProjectRecord {
  /** The project's id and the record's number, which is unique: see {@link Prewarms.add}. */
  readonly position: string;
  readonly variantCount: number;
  readonly jobs: readonly QueuedJob[];
  /** Jobs that are not in the queue yet, and since when. Absent once they are. */
  readonly pending?: readonly JobDocument<PrewarmJobData | CallbackJob>[];
  readonly pendingSince?: Date;
}

/** The call would exceed the project's maximum of waiting jobs, so it added no job. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  readonly waiting: number;
  readonly added: number;
  readonly maxWaiting: number;

  /** @param added the number of jobs in the call that do not wait yet */
  constructor(waiting: number, added: number, maxWaiting: number) {
    super(`the project has ${waiting} waiting jobs, and ${added} more would exceed the maximum`);
    this.waiting = waiting;
    this.added = added;
    this.maxWaiting = maxWaiting;
  }
}

/** Maximum time in ms for a call that competes with other calls of its project. */
const addWithinMs = 10_000;
/** Then a worker adds the jobs of a call whose process has failed, ms. */
const pendingAfterMs = 5_000;

type SourceState = 'waiting' | 'running' | 'done' | 'failed';

/** A call's status. Its fields must match `PrewarmStatus` in the OpenAPI document. */
export type PrewarmStatus = ReturnType<typeof toStatus>;

export class Prewarms {
  readonly #records: ProjectRecords<PrewarmRecord>;
  readonly #calls: Collection<PrewarmRecord>;
  readonly #jobs: JobCollection;
  readonly #maxWaiting: number;

  /** @param maxWaiting maximum waiting jobs per project, over all processes */
  constructor(db: Db, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#records = new ProjectRecords(db, 'prewarms');
    this.#calls = db.collection('prewarms');
    this.#jobs = db.collection(jobsCollection);
    this.#maxWaiting = maxWaiting;
  }

  async ensureIndexes(): Promise<void> {
    await this.#records.ensureIndexes();
    await this.#calls.createIndex({ position: 1 }, { unique: true, sparse: true });
    await this.#calls.createIndex({ pendingSince: 1 }, { sparse: true });
  }

  /**
   * Queues a project's jobs, except jobs that already wait, and the callback.
   *
   * Storing the record commits the call, because the record contains all its jobs: if the rest
   * fails, a worker adds them later ({@link addPending}). The record's number is one higher than
   * that of the last record before the count, and the index on it is unique, so no other call can
   * commit between a count and its commit.
   *
   * @returns the call's id
   * @throws QueueFull
   */
  async add(call: PrewarmCall): Promise<string> {
    const giveUpAt = performance.now() + addWithinMs;
    for (let attempt = 1; ; attempt += 1) {
      const record = await this.#prepare(call);
      try {
        await retryOnDeadlock(() => this.#records.add(record));
        await this.#addJobs(record).catch(() => {});
        return record._id;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if (performance.now() > giveUpAt) {
          throw new StoreUnavailable('too many calls prewarm images of the project at once');
        }
        await sleep(Math.random() * 10 * attempt);
      }
    }
  }

  async #prepare({ projectId, sources, variants, callbackUrl }: PrewarmCall) {
    const ofProject = { position: { $gte: `${projectId}:`, $lt: `${projectId};` } };
    const last = await withTimeout(this.#calls.findOne(ofProject, { sort: { position: -1 } }));
    const number = Number(last?.position.split(':')[1] ?? 0) + 1;
    const now = new Date();
    const jobs = sources.map((source) =>
      createWaitingJob(prewarmJobName, withFingerprint({ projectId, variants, source }), now),
    );
    const outside = await this.#countPending(projectId);
    const keys = jobs.map(({ waitingKey }) => waitingKey);
    const [equal, inQueue] = await withTimeout(
      Promise.all([
        this.#jobs.find({ waitingKey: { $in: keys } }).toArray(),
        this.#jobs.countDocuments(waitingJobsFilter(prewarmJobName, projectId)),
      ]),
    );
    const byKey = new Map(equal.map((job) => [job.waitingKey, job]));
    const added = jobs.filter(({ waitingKey }) => !byKey.has(waitingKey));
    const waiting = inQueue + outside;
    if (added.length > 0 && waiting + added.length > this.#maxWaiting) {
      throw new QueueFull(waiting, added.length, this.#maxWaiting);
    }
    const _id = newPrewarmId();
    const callback =
      callbackUrl &&
      createCallbackJob({ projectId, url: callbackUrl, subject: 'prewarm', id: _id });
    return {
      _id,
      projectId,
      createdAt: now,
      position: `${projectId}:${String(number).padStart(12, '0')}`,
      variantCount: sources.length * variants.length,
      jobs: jobs
        .map((job) => byKey.get(job.waitingKey) ?? job)
        .map(({ _id: id, data: { fingerprint } }) => ({ id, fingerprint })),
      pending: callback ? [...added, callback] : added,
      pendingSince: now,
    } satisfies PrewarmRecord;
  }

  /** Counts the jobs of a project that calls have committed but not added yet. */
  async #countPending(projectId: string): Promise<number> {
    const ofProject = { projectId, pendingSince: { $gt: epoch } };
    const records = await withTimeout(this.#calls.find(ofProject).toArray());
    const ids = records.flatMap(({ pending = [] }) =>
      pending.filter(({ name }) => name === prewarmJobName).map((job) => job._id),
    );
    if (ids.length === 0) return 0;
    return ids.length - (await withTimeout(this.#jobs.countDocuments({ _id: { $in: ids } })));
  }

  /** Adds a record's jobs. Can run again, and in several processes at once. */
  async #addJobs({ _id, pending = [] }: PrewarmRecord): Promise<void> {
    const jobs: Collection<JobDocument<unknown>> = this.#jobs as never;
    const insert = async (job: JobDocument<unknown>) => {
      try {
        await retryOnDeadlock(() => jobs.insertOne(job));
      } catch (error) {
        // Another process has added the job, or an equal job, in the meantime.
        if (!isDuplicateKey(error)) throw error;
      }
    };
    await withTimeout(Promise.all(pending.map(insert)));
    const added = { $unset: { pending: true, pendingSince: true } } as const;
    await withTimeout(this.#calls.updateOne({ _id }, added));
  }

  /** Adds the jobs of calls whose process failed after it stored their records. */
  async addPending(): Promise<void> {
    const before = new Date(Date.now() - pendingAfterMs);
    const left = this.#calls.find({ pendingSince: { $gt: epoch, $lt: before } }).limit(100);
    for (const record of await left.toArray()) await this.#addJobs(record);
  }

  async find(projectId: string, id: string): Promise<PrewarmStatus | null> {
    const record = await this.#records.find(projectId, id);
    return record && toStatus(record, await this.#findJobs(record));
  }

  /** Contains null for each deleted job. */
  async #findJobs({ projectId, jobs }: PrewarmRecord): Promise<Array<JobDocument | null>> {
    const found = await this.#jobsWith({ _id: { $in: jobs.map(({ id }) => id) } });
    const byId = new Map(found.map((job) => [job._id.toHexString(), job]));
    const isMissing = ({ id }: QueuedJob) => !byId.has(id.toHexString());
    const missing = jobs.filter(isMissing).map(({ fingerprint }) => fingerprint);
    // A rescheduled job is deleted if an equal job waits already. The job's name is in the filter
    // so that an index finds the project's jobs.
    const ofProject = { name: prewarmJobName, 'data.projectId': projectId };
    const equal = { ...ofProject, 'data.fingerprint': { $in: missing } };
    const successors = missing.length === 0 ? [] : await this.#jobsWith(equal);
    const byFingerprint = new Map(successors.map((job) => [job.data.fingerprint, job]));
    return jobs.map(
      ({ id, fingerprint }) => byId.get(id.toHexString()) ?? byFingerprint.get(fingerprint) ?? null,
    );
  }

  /** By age. */
  #jobsWith(filter: { _id: { $in: ObjectId[] } } | { name: string; 'data.projectId': string }) {
    return withTimeout(this.#jobs.find(filter).sort({ _id: 1 }).toArray());
  }
}

function withFingerprint(job: PrewarmJob): PrewarmJobData {
  const { projectId, source, variants } = job;
  const text = JSON.stringify({ projectId, variants, source });
  return { ...job, fingerprint: createHash('sha256').update(text).digest('hex') };
}

function toStatus(
  { _id: id, createdAt, variantCount }: PrewarmRecord,
  jobs: ReadonlyArray<JobDocument | null>,
) {
  const sources: Record<SourceState, number> = { waiting: 0, running: 0, done: 0, failed: 0 };
  const failures: { source: string; reason: string }[] = [];
  let percents = 0;
  for (const job of jobs) {
    const state = toState(job);
    sources[state] += 1;
    const isOpen = state === 'waiting' || state === 'running';
    percents += isOpen ? donePercent(job) : 100;
    if (state !== 'failed' || job === null) continue;
    failures.push({ source: job.data.source, reason: job.failReason ?? '' });
  }
  const open = sources.waiting + sources.running;
  const status: CallState = open > 0 ? 'accepted' : sources.failed > 0 ? 'failed' : 'done';
  return {
    id,
    status,
    progress: Math.floor(percents / jobs.length),
    sourceCount: jobs.length,
    variantCount,
    sources,
    failures,
    createdAt: createdAt.toISOString(),
  };
}

/** Excludes failed variants, because a later attempt can still render them. */
function donePercent(job: JobDocument | null): number {
  const { done = 0, total = 0 } = job?.data.counts ?? {};
  return total === 0 ? 0 : (100 * done) / total;
}

function toState(job: JobDocument | null): SourceState {
  // An operator has deleted it.
  if (job === null) return 'failed';
  if (job.lockedAt !== null) return 'running';
  if (job.nextRunAt !== null) return 'waiting';
  return (job.failCount ?? 0) > 0 ? 'failed' : 'done';
}
