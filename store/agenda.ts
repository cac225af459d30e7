import { setTimeout as sleep } from 'node:timers/promises';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda, type AgendaBackend, type JobParameters, toJobId } from 'agenda';
import { type Db, type Filter, ObjectId, type Sort } from 'mongodb';
import { JobTurns, LowestTurn } from './job-turns.ts';
import {
  epoch,
  type JobDocument,
  type Jobs,
  jobsCollection,
  prewarmJobName,
  releaseJob,
  requeue,
} from './waiting-jobs.ts';

const reconnectEveryMs = 1_000;
/** Interval at which a consumer polls for expired locks and for delayed jobs that are due, ms. */
const pollEveryMs = 500;

/** Thrown when a worker saves the state of a job that another worker has locked in the meantime. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

type SaveJobState = Parameters<MongoJobRepository['saveJobState']>;

/**
 * Agenda's repository, with three changes:
 *
 * - Prewarm jobs are taken in the order of their turns (job-turns.ts), by an index for both filter and order.
 *   Agenda's own query examines all jobs.
 * - The state is saved only while the lock is held. Agenda does not check it (agenda/agenda#589): a worker
 *   that was suspended for longer than its lock would overwrite the state of the job's next worker.
 * - A job that waits again gets its `waitingKey` again.
 */
class JobRepository extends MongoJobRepository {
  readonly #lowest: LowestTurn;
  readonly #turns: JobTurns;
  #pollAt = 0;
  /** Ids of jobs that were taken and have not started. */
  readonly #taken = new Set<string>();
  readonly #jobs: Jobs;

  constructor(db: Db) {
    // The queue creates its own indexes.
    super({ mongo: db, db: { collection: jobsCollection }, ensureIndex: false });
    this.#jobs = db.collection(jobsCollection);
    this.#lowest = new LowestTurn(this.#jobs);
    this.#turns = new JobTurns(this.#jobs);
  }

  override async getNextJobToRun(
    name: string,
    _nextScanAt: Date,
    lockDeadline: Date,
    now = new Date(),
    options?: SaveJobState[1],
  ): Promise<JobParameters | undefined> {
    const lock = {
      lockedAt: now,
      lastModifiedBy: options?.lastModifiedBy ?? null,
      nextRunAt: null,
      lastRunAt: now,
    };
    const take = (filter: Filter<JobDocument>, sort: Sort) =>
      this.#jobs.findOneAndUpdate(
        filter,
        { $set: lock, $unset: { turn: true, waitingKey: true } },
        { sort, returnDocument: 'before' },
      );
    const expired = { name, lockedAt: { $gt: epoch, $lte: lockDeadline } };
    if (name !== prewarmJobName) {
      const enabled = { name, disabled: { $ne: true } };
      const due = { ...enabled, lockedAt: null, nextRunAt: { $gt: epoch, $lte: now } };
      const next = (await take(expired, { lockedAt: 1 })) ?? (await take(due, { nextRunAt: 1 }));
      return next === null ? undefined : this.#take(next, lock);
    }
    const takeNext = () => this.#lowest.find((filter) => take(filter, { turn: 1 }));
    if (performance.now() >= this.#pollAt) {
      const abandoned = await take(expired, { lockedAt: 1 });
      if (abandoned !== null) return this.#take(abandoned, lock);
      await this.#assignDue(now);
    }
    const next = (await takeNext()) ?? ((await this.#assignDue(now)) ? await takeNext() : null);
    return next === null ? undefined : this.#take(next, lock);
  }

  /** @returns whether a delayed job was due */
  async #assignDue(now: Date): Promise<boolean> {
    const assigned = await this.#turns.assignDue(now);
    this.#pollAt = assigned > 0 ? 0 : performance.now() + pollEveryMs;
    return assigned > 0;
  }

  #take(job: JobDocument, lock: Partial<JobDocument>): JobParameters {
    const parameters = parametersOf(job, lock);
    this.#taken.add(String(parameters._id));
    return parameters;
  }

  override async saveJobState(...[job, options]: SaveJobState): Promise<void> {
    // At its start a job has the state that was stored when it was taken.
    if (this.#taken.delete(String(job._id))) return;
    const date = (value: Date | null | undefined) => (value ? new Date(value) : null);
    const _id = new ObjectId(String(job._id));
    const lastModifiedBy = options?.lastModifiedBy ?? null;
    const { data } = job as { readonly data?: JobDocument['data'] };
    const state = {
      lockedAt: date(job.lockedAt),
      nextRunAt: date(job.nextRunAt),
      lastRunAt: date(job.lastRunAt),
      lastFinishedAt: date(job.lastFinishedAt),
      failedAt: date(job.failedAt),
      failCount: job.failCount ?? null,
      failReason: job.failReason ?? null,
      progress: job.progress ?? null,
      ...(data?.counts === undefined ? {} : { 'data.counts': data.counts }),
    };
    const held = { _id, lockedAt: { $gt: epoch }, lastModifiedBy };
    const waits = state.lockedAt === null && state.nextRunAt !== null;
    const saved = waits
      ? await requeue(this.#jobs, held, { name: job.name, data }, state)
      : (await this.#jobs.updateOne(held, { $set: state })).matchedCount === 1;
    if (!saved) throw new LockLost();
  }

  /** Never rejects, because Agenda does not await it. After a failure the lock expires. */
  override async unlockJob(job: JobParameters): Promise<void> {
    this.#taken.delete(String(job._id));
    const { name, data } = job as Pick<JobDocument, 'name' | 'data'>;
    const locked = { _id: new ObjectId(String(job._id)), name, data };
    await releaseJob(this.#jobs, locked, String(job.lastModifiedBy)).catch(() => {});
  }
}

/** Converts a stored job to the form that Agenda expects: without null fields. */
function parametersOf(job: JobDocument, lock: Partial<JobDocument>): JobParameters {
  const { _id, turn: _, waitingKey: __, ...fields } = { ...job, ...lock };
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  const parameters = { ...Object.fromEntries(present), nextRunAt: null };
  return { ...parameters, _id: toJobId(job._id.toHexString()) } as unknown as JobParameters;
}

class StoreBackend implements AgendaBackend {
  readonly name = 'MongoDB';
  readonly ownsConnection = false;
  readonly repository: MongoJobRepository;

  constructor(db: Db) {
    this.repository = new JobRepository(db);
  }

  /** Retries, because Agenda connects in its constructor and does not handle a failure. */
  async connect(): Promise<void> {
    for (;;) {
      try {
        return await this.repository.connect();
      } catch {
        await sleep(reconnectEveryMs, undefined, { ref: false });
      }
    }
  }

  async disconnect(): Promise<void> {
    // The store closes the connection.
  }
}

/** An Agenda on the store's connection; it becomes ready when the store is available. */
export function createAgenda(
  db: Db,
  options: Omit<ConstructorParameters<typeof Agenda>[0], 'backend'> = {},
): Agenda {
  return new Agenda({ ...options, backend: new StoreBackend(db) });
}
