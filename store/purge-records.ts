import type { Collection, Db, ObjectId } from 'mongodb';
import { withTimeout } from './deadline.ts';
import type { PurgeHookJob } from './purge-hooks.ts';
import { type ProjectRecord, Records } from './records.ts';
import { type JobDocument, jobsCollection } from './waiting-jobs.ts';

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

/** A purge, with what has become of it. */
export interface PurgeProgress extends Omit<PurgeRecord, 'hook' | 'machines'> {
  readonly machines: readonly MachineDeletion[];
  /** Null when there is none, undefined when another one has replaced it. */
  readonly hook: JobDocument<PurgeHookJob> | null | undefined;
}

const name = 'purges';
const idOf = (projectId: string, number: number | string): string => `${projectId}:${number}`;

/** A name as a field of a document: without a dot, and not a number. */
const fieldOf = (name: string): string => `m${Buffer.from(name).toString('base64url')}`;

/** The purges of projects, by their numbers. */
export class PurgeRecords {
  readonly #records: Records<PurgeRecord>;
  readonly #collection: Collection<PurgeRecord>;
  readonly #jobs: Collection<JobDocument<PurgeHookJob>>;

  constructor(db: Db) {
    this.#records = new Records(db, name);
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

  async find(projectId: string, id: string): Promise<PurgeProgress | null> {
    const record = await this.#records.find(projectId, idOf(projectId, id));
    if (record === null) return null;
    const machines = Object.values(record.machines);
    if (record.hook === null) return { ...record, machines, hook: null };
    const hook = await withTimeout(this.#jobs.findOne({ _id: record.hook }));
    return { ...record, machines, hook: hook ?? undefined };
  }

  /** Notes that a machine has deleted the images of a purge and of earlier ones. */
  async deleted(projectId: string, number: number, machine: MachineDeletion): Promise<void> {
    const field = `machines.${fieldOf(machine.name)}` as const;
    // Null also stands for a missing field.
    const open = { projectId, number: { $lte: number }, [field]: null };
    await withTimeout(this.#collection.updateMany(open, { $set: { [field]: machine } }));
  }
}
