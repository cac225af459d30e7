import type { Collection, Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import type { PurgeHookJob } from './purge-hooks.ts';
import { type CallState, type ProjectRecord, ProjectRecords } from './records.ts';
import {
  isOpen,
  type JobDocument,
  jobsCollection,
  openJobs,
  purgeHookJobName,
} from './waiting-jobs.ts';

/** The promise of purges: after this time they are in effect in every process that reaches the store. */
export const purgeEffectiveMs = 2_000;

interface PurgeRecord extends ProjectRecord {
  /** 0 for all images. */
  readonly sourceCount: number;
  /** The job that calls the purge hook; null when there is none. */
  readonly hook: ObjectId | null;
}

/** States of the call of the purge hook; `none` without a hook. */
export const hookStates = ['none', 'waiting', 'done', 'failed'] as const;

/** The call of the purge hook for a purge. */
interface HookCall {
  readonly status: (typeof hookStates)[number];
  /** The reason of the last failure, or empty. */
  readonly reason: string;
}

/** The purges of projects. The id of a purge is the revision of its project. */
export class PurgeRecords {
  readonly #records: ProjectRecords<PurgeRecord>;
  readonly #jobs: Collection<JobDocument<PurgeHookJob>>;

  constructor(db: Db) {
    this.#records = new ProjectRecords(db, 'purges');
    this.#jobs = db.collection(jobsCollection);
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  add(id: string, purge: Pick<PurgeRecord, 'projectId' | 'sourceCount' | 'hook'>): Promise<void> {
    const _id = `${purge.projectId}:${id}`;
    return this.#records.add({ ...purge, _id, createdAt: new Date() });
  }

  /** The status of a purge, which must have the fields of `PurgeStatus` in the OpenAPI document. */
  async find(projectId: string, id: string) {
    const record = await this.#records.find(projectId, `${projectId}:${id}`);
    if (record === null) return null;
    const hook = await this.#hookOf(record);
    const { sourceCount, createdAt } = record;
    const isEffective = Date.now() - createdAt.getTime() >= purgeEffectiveMs;
    const isOpen = !isEffective || hook.status === 'waiting';
    const status: CallState = hook.status === 'failed' ? 'failed' : isOpen ? 'accepted' : 'done';
    return { id, status, sourceCount, hook, createdAt: createdAt.toISOString() };
  }

  async #hookOf({ projectId, hook }: PurgeRecord): Promise<HookCall> {
    if (hook === null) return { status: 'none', reason: '' };
    const own = await withTimeout(this.#jobs.findOne({ _id: hook }));
    // A later request may have named all images of the project.
    const job = own ?? (await this.#replacement(projectId));
    if (job === null) return { status: 'done', reason: '' };
    const { failCount, failReason } = job;
    const failed = (failCount ?? 0) > 0;
    const reason = failed ? (failReason ?? '') : '';
    if (isOpen(job)) return { status: 'waiting', reason };
    return { status: failed ? 'failed' : 'done', reason };
  }

  /** The request for all images that has replaced many, while it waits or runs; null later. */
  #replacement(projectId: string): Promise<JobDocument<PurgeHookJob> | null> {
    const ofProject = { name: purgeHookJobName, 'data.projectId': projectId };
    return withTimeout(this.#jobs.findOne({ ...ofProject, ...openJobs }));
  }
}
