import type { Collection, Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import type { PurgeHookJob } from './purge-hooks.ts';
import { type ProjectRecord, ProjectRecords } from './records.ts';
import {
  isOpen,
  type JobDocument,
  jobsCollection,
  openJobs,
  purgeHookJobName,
} from './waiting-jobs.ts';

/** A machine that has deleted what a purge concerns. */
export interface MachineDeletion {
  readonly name: string;
  /** Deleted images, together with those of purges of the same seconds. */
  readonly images: number;
  readonly deletedAt: Date;
}

interface PurgeRecord extends ProjectRecord {
  /** Of the purge; see purges.ts. */
  readonly number: number;
  /** 0 for all images. */
  readonly sourceCount: number;
  /** The job that calls the purge hook; null when there is none. */
  readonly hook: ObjectId | null;
  /** By `fieldOf` their names: not every server can compare documents in an array. */
  readonly machines: Readonly<Record<string, MachineDeletion>>;
}

/** What has become of a purge: `PurgeStatus` in the OpenAPI document. */
export interface PurgeStatus {
  id: string;
  status: 'accepted' | 'done' | 'failed';
  sourceCount: number;
  hook: { status: 'none' | 'waiting' | 'done' | 'failed'; reason: string };
  machines: { name: string; images: number; deletedAt: string }[];
  createdAt: string;
}

const name = 'purges';
const idOf = (projectId: string, number: number | string): string => `${projectId}:${number}`;

/** A name as a field of a document: without a dot, and not a number. */
const fieldOf = (name: string): string => `m${Buffer.from(name).toString('base64url')}`;

/** The purges of projects, by their numbers. */
export class PurgeRecords {
  readonly #records: ProjectRecords<PurgeRecord>;
  readonly #collection: Collection<PurgeRecord>;
  readonly #jobs: Collection<JobDocument<PurgeHookJob>>;

  constructor(db: Db) {
    this.#records = new ProjectRecords(db, name);
    this.#collection = db.collection(name);
    this.#jobs = db.collection(jobsCollection);
  }

  ensureIndexes(): Promise<void> {
    return this.#records.ensureIndexes();
  }

  add(purge: Pick<PurgeRecord, 'projectId' | 'number' | 'sourceCount' | 'hook'>): Promise<void> {
    const _id = idOf(purge.projectId, purge.number);
    return this.#records.add({ ...purge, _id, createdAt: new Date(), machines: {} });
  }

  async find(projectId: string, id: string): Promise<PurgeStatus | null> {
    const record = await this.#records.find(projectId, idOf(projectId, id));
    if (record === null) return null;
    if (record.hook === null) return statusOf(record, { status: 'none', reason: '' });
    const job = await withTimeout(this.#jobs.findOne({ _id: record.hook }));
    return statusOf(record, hookOf(job ?? (await this.#replacement(projectId))));
  }

  /** The request for all images that has replaced many, while it waits or runs; null later. */
  #replacement(projectId: string): Promise<JobDocument<PurgeHookJob> | null> {
    const ofProject = { name: purgeHookJobName, 'data.projectId': projectId };
    return withTimeout(this.#jobs.findOne({ ...ofProject, ...openJobs }));
  }

  /**
   * The projects whose purges since a time a machine has not noted; all of that time if it is null. Each with the
   * number of the first purge that no machine has noted, or null.
   */
  async unfinished(machine: string | null, since: Date): Promise<Map<string, number | null>> {
    const open = machine === null ? {} : { [`machines.${fieldOf(machine)}`]: null };
    const found = this.#collection.find({ ...open, createdAt: { $gte: since } });
    const fields = { projectId: 1, number: 1, machines: 1 };
    const first = new Map<string, number | null>();
    // Without a deadline: there may be many.
    for await (const record of found.project<PurgeRecord>(fields)) {
      const { projectId, number, machines } = record;
      const before = first.get(projectId) ?? null;
      const isNoted = Object.keys(machines).length > 0;
      first.set(projectId, isNoted ? before : Math.min(before ?? number, number));
    }
    return first;
  }

  /** Notes that a machine has deleted the images of a purge and of earlier ones. */
  async deleted(projectId: string, number: number, machine: MachineDeletion): Promise<void> {
    const field = `machines.${fieldOf(machine.name)}` as const;
    // Null also stands for a missing field.
    const open = { projectId, number: { $lte: number }, [field]: null };
    await withTimeout(this.#collection.updateMany(open, { $set: { [field]: machine } }));
  }
}

function statusOf(
  { number, sourceCount, machines, createdAt }: PurgeRecord,
  hook: PurgeStatus['hook'],
): PurgeStatus {
  const deletions = Object.values(machines);
  const isOpen = deletions.length === 0 || hook.status === 'waiting';
  return {
    id: String(number),
    status: hook.status === 'failed' ? 'failed' : isOpen ? 'accepted' : 'done',
    sourceCount,
    hook,
    machines: deletions.map(({ name, images, deletedAt }) => ({
      name,
      images,
      deletedAt: deletedAt.toISOString(),
    })),
    createdAt: createdAt.toISOString(),
  };
}

function hookOf(job: JobDocument<PurgeHookJob> | null): PurgeStatus['hook'] {
  // A later request has named all images of the project.
  if (job === null) return { status: 'done', reason: '' };
  const { failCount, failReason } = job;
  const failed = (failCount ?? 0) > 0;
  const reason = failed ? (failReason ?? '') : '';
  if (isOpen(job)) return { status: 'waiting', reason };
  return { status: failed ? 'failed' : 'done', reason };
}
