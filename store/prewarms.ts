import type { Collection, Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { newPrewarmId } from './identifiers.ts';
import type { QueuedJob } from './jobs.ts';
import { type ProjectRecord, Records } from './records.ts';
import { type JobDocument, jobsCollection } from './waiting-jobs.ts';

interface PrewarmRecord extends ProjectRecord {
  readonly variantCount: number;
  readonly jobs: readonly QueuedJob[];
}

/** A call of prewarming, with what has become of its sources. */
export interface Prewarm {
  readonly id: string;
  readonly createdAt: Date;
  readonly variantCount: number;
  /** Null for a job that was deleted. */
  readonly jobs: ReadonlyArray<JobDocument | null>;
}

/** The calls of prewarming. */
export class Prewarms {
  readonly #records: Records<PrewarmRecord>;
  readonly #jobs: Collection<JobDocument>;

  constructor(db: Db) {
    this.#records = new Records(db, 'prewarms');
    this.#jobs = db.collection(jobsCollection);
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  /** @returns the id of the call */
  async add(projectId: string, jobs: readonly QueuedJob[], variantCount: number): Promise<string> {
    const _id = newPrewarmId();
    await this.#records.add({ _id, projectId, createdAt: new Date(), variantCount, jobs });
    return _id;
  }

  async find(projectId: string, id: string): Promise<Prewarm | null> {
    const record = await this.#records.find(projectId, id);
    if (record === null) return null;
    const { createdAt, variantCount } = record;
    return { id, createdAt, variantCount, jobs: await this.#jobsOf(record) };
  }

  async #jobsOf({ projectId, jobs }: PrewarmRecord): Promise<Array<JobDocument | null>> {
    const found = await this.#jobsWith({ _id: { $in: jobs.map(({ id }) => id) } });
    const byId = new Map(found.map((job) => [job._id.toHexString(), job]));
    const isMissing = ({ id }: QueuedJob) => !byId.has(id.toHexString());
    const missing = jobs.filter(isMissing).map(({ fingerprint }) => fingerprint);
    // A job that has to wait again gives way to an equal one that waits.
    const equal = { 'data.projectId': projectId, 'data.fingerprint': { $in: missing } };
    const successors = missing.length === 0 ? [] : await this.#jobsWith(equal);
    const byFingerprint = new Map(successors.map((job) => [job.data.fingerprint, job]));
    return jobs.map(
      ({ id, fingerprint }) => byId.get(id.toHexString()) ?? byFingerprint.get(fingerprint) ?? null,
    );
  }

  /** By age. */
  #jobsWith(filter: { _id: { $in: ObjectId[] } } | { 'data.projectId': string }) {
    return withTimeout(this.#jobs.find(filter).sort({ _id: 1 }).toArray());
  }
}
