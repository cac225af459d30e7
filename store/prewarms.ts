import { createHash } from 'node:crypto';
import type { Db, ObjectId } from 'mongodb';
import { Callbacks } from './callbacks.ts';
import { newPrewarmId } from './identifiers.ts';
import {
  createWaitingJob,
  type JobCollection,
  type JobDocument,
  jobsCollection,
  type PrewarmJob,
  type PrewarmJobData,
  prewarmJobName,
  waitingJobsFilter,
} from './jobs.ts';
import { withTimeout } from './outage.ts';
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
  readonly variantCount: number;
  readonly jobs: readonly QueuedJob[];
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

/** For all jobs of a call, which can be many, in ms. */
const addWithinMs = 10_000;

type SourceState = 'waiting' | 'running' | 'done' | 'failed';

/** A call's status. Its fields must match `PrewarmStatus` in the OpenAPI document. */
export type PrewarmStatus = ReturnType<typeof toStatus>;

export class Prewarms {
  readonly #records: ProjectRecords<PrewarmRecord>;
  readonly #jobs: JobCollection;
  readonly #callbacks: Callbacks;
  readonly #maxWaiting: number;

  /** @param maxWaiting maximum waiting jobs per project, over all processes */
  constructor(db: Db, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#records = new ProjectRecords(db, 'prewarms');
    this.#jobs = db.collection(jobsCollection);
    this.#callbacks = new Callbacks(db);
    this.#maxWaiting = maxWaiting;
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  /**
   * Queues a project's jobs, except jobs that already wait, and the callback. Concurrent calls can
   * exceed the maximum slightly. If the store fails meanwhile, the call can be repeated, because the
   * jobs that it has added wait already.
   *
   * @returns the call's id
   * @throws QueueFull
   */
  async add({ projectId, sources, variants, callbackUrl }: PrewarmCall): Promise<string> {
    const now = new Date();
    const jobs = sources.map((source) =>
      createWaitingJob(prewarmJobName, withFingerprint({ projectId, variants, source }), now),
    );
    const keys = jobs.map(({ waitingKey }) => waitingKey);
    const [equal, waiting] = await withTimeout(
      Promise.all([
        this.#jobs.find({ waitingKey: { $in: keys } }).toArray(),
        this.#jobs.countDocuments(waitingJobsFilter(prewarmJobName, projectId)),
      ]),
    );
    const byKey = new Map(equal.map((job) => [job.waitingKey, job]));
    const added = jobs.filter(({ waitingKey }) => !byKey.has(waitingKey));
    if (added.length > 0 && waiting + added.length > this.#maxWaiting) {
      throw new QueueFull(waiting, added.length, this.#maxWaiting);
    }
    await withTimeout(Promise.all(added.map((job) => this.#insert(job))), addWithinMs);
    const _id = newPrewarmId();
    await this.#records.add({
      _id,
      projectId,
      createdAt: now,
      variantCount: sources.length * variants.length,
      jobs: jobs
        .map((job) => byKey.get(job.waitingKey) ?? job)
        .map(({ _id: id, data: { fingerprint } }) => ({ id, fingerprint })),
    });
    if (callbackUrl !== null) {
      await this.#callbacks.add({ projectId, url: callbackUrl, subject: 'prewarm', id: _id });
    }
    return _id;
  }

  async #insert(job: JobDocument): Promise<void> {
    try {
      await retryOnDeadlock(() => this.#jobs.insertOne(job));
    } catch (error) {
      // Another call has added an equal job in the meantime.
      if (!isDuplicateKey(error)) throw error;
    }
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
