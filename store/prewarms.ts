import type { Collection, Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { newPrewarmId } from './identifiers.ts';
import type { QueuedJob } from './jobs.ts';
import { type CallState, type ProjectRecord, ProjectRecords } from './records.ts';
import { type JobDocument, jobsCollection, prewarmJobName } from './waiting-jobs.ts';

interface PrewarmRecord extends ProjectRecord {
  readonly variantCount: number;
  readonly jobs: readonly QueuedJob[];
}

type SourceState = 'waiting' | 'running' | 'done' | 'failed';

/** A call's status. Its fields must match `PrewarmStatus` in the OpenAPI document. */
export type PrewarmStatus = ReturnType<typeof toStatus>;

export class Prewarms {
  readonly #records: ProjectRecords<PrewarmRecord>;
  readonly #jobs: Collection<JobDocument>;

  constructor(db: Db) {
    this.#records = new ProjectRecords(db, 'prewarms');
    this.#jobs = db.collection(jobsCollection);
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  /** @returns the call's id */
  async add(projectId: string, jobs: readonly QueuedJob[], variantCount: number): Promise<string> {
    const _id = newPrewarmId();
    await this.#records.add({ _id, projectId, createdAt: new Date(), variantCount, jobs });
    return _id;
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
