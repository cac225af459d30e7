import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda, type AgendaBackend, type JobParameters, toJobId } from 'agenda';
import { type Db, type Filter, ObjectId, type Sort } from 'mongodb';
import {
  epoch,
  type JobCollection,
  type JobDocument,
  jobsCollection,
  releaseJob,
  requeue,
  waitingJobsAfter,
} from './jobs.ts';

/** Thrown when a worker starts, or saves the state of, a job that another worker has locked in the meantime. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Maximum concurrent jobs per project and per receiver in a consumer, by job kind. */
export type Shares = Readonly<
  Record<string, { readonly project: number; readonly receiver: number }>
>;

type SaveJobState = Parameters<MongoJobRepository['saveJobState']>;

/**
 * Agenda's repository, with these changes:
 *
 * - A free place goes to the next project by id that has a due job, so that a project delays another
 *   by one job per place, however many jobs it has. Agenda's own query would take all jobs by
 *   age, and examine ended jobs too. Projects and receivers that use their share are left out.
 * - Only waiting jobs have a `waitingKey`, which prevents equal jobs.
 * - A job's state is saved only while the worker holds the lock. Agenda does not check the lock
 *   (agenda/agenda#589), so a worker suspended past its lock would overwrite the next worker's
 *   state.
 * - Agenda does not see `lockedAt` before a claimed job starts: if the lock expires before, Agenda
 *   drops the job, and never frees its place.
 */
class JobRepository extends MongoJobRepository {
  readonly #jobs: JobCollection;
  readonly #shares: Shares;
  /** Kinds with a claim in progress: Agenda adds a claim at each poll, however long one takes. */
  readonly #claiming = new Set<string>();
  /** The project of the last claimed job, by kind. */
  readonly #lastProject = new Map<string, string>();
  /** Ids of claimed jobs that have not started. */
  readonly #unstarted = new Set<string>();

  constructor(db: Db, shares: Shares) {
    // The queue creates its own indexes.
    super({ mongo: db, db: { collection: jobsCollection }, ensureIndex: false });
    this.#jobs = db.collection(jobsCollection);
    this.#shares = shares;
  }

  override async getNextJobToRun(
    name: string,
    _nextScanAt: Date,
    lockDeadline: Date,
    _now?: Date,
    options?: SaveJobState[1],
  ): Promise<JobParameters | undefined> {
    if (this.#claiming.has(name)) return undefined;
    this.#claiming.add(name);
    try {
      const job = await this.#claim(name, lockDeadline, options?.lastModifiedBy ?? null);
      if (job === null) return undefined;
      this.#unstarted.add(job._id.toHexString());
      return toParameters(job);
    } finally {
      this.#claiming.delete(name);
    }
  }

  async #claim(
    name: string,
    lockDeadline: Date,
    consumer: string | null,
  ): Promise<JobDocument | null> {
    const now = new Date();
    const lock = { lockedAt: now, lastModifiedBy: consumer, nextRunAt: null, lastRunAt: now };
    const claimFirst = async (filter: Filter<JobDocument>, sort: Sort) => {
      const job = await this.#jobs.findOneAndUpdate(
        filter,
        { $set: lock, $unset: { waitingKey: true } },
        { sort, returnDocument: 'before' },
      );
      return job && { ...job, ...lock };
    };
    const { fullProjects, fullReceivers } = await this.#findFull(name, lockDeadline, consumer);
    const withinShares = {
      'data.projectId': { $nin: fullProjects },
      receiver: { $nin: fullReceivers },
      disabled: { $ne: true },
    };
    const abandoned = { ...withinShares, name, lockedAt: { $gt: epoch, $lte: lockDeadline } };
    const left = await claimFirst(abandoned, { lockedAt: 1 });
    if (left !== null) return left;
    const due = { ...withinShares, nextRunAt: { $gt: epoch, $lte: now } };
    const findAfter = (projectId?: string) => {
      const filter = { ...due, ...waitingJobsAfter(name, projectId) };
      return this.#jobs.findOne(filter, { sort: { waitingKey: 1 } });
    };
    for (;;) {
      const next = (await findAfter(this.#lastProject.get(name))) ?? (await findAfter());
      if (next === null) return null;
      // Operators can create jobs with any data in the workbench.
      const { projectId }: Partial<JobDocument['data']> = next.data ?? {};
      this.#lastProject.set(name, projectId ?? '');
      const ofProject = { ...due, name, 'data.projectId': projectId ?? null };
      const job = await claimFirst(ofProject as Filter<JobDocument>, { nextRunAt: 1 });
      // Otherwise another worker has claimed the project's only due job.
      if (job !== null) return job;
    }
  }

  /** The projects and receivers that use their share of the consumer's places. */
  async #findFull(name: string, lockDeadline: Date, consumer: string | null) {
    const share = this.#shares[name];
    if (share === undefined) return { fullProjects: [], fullReceivers: [] };
    const held = { name, lockedAt: { $gt: lockDeadline }, lastModifiedBy: consumer };
    const running = await this.#jobs.find(held).toArray();
    const projects = running.map(({ data }) => data?.projectId);
    const receivers = running.flatMap(({ receiver }) => receiver ?? []);
    return {
      fullProjects: atLeast(share.project, projects),
      fullReceivers: atLeast(share.receiver, receivers),
    };
  }

  override async saveJobState(...[job, options]: SaveJobState): Promise<void> {
    if (this.#unstarted.delete(String(job._id))) job.lockedAt = new Date();
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

  /** Saves a job that an operator creates or schedules in the workbench. */
  override async saveJob<D = unknown>(
    ...[given, options]: Parameters<typeof MongoJobRepository.prototype.saveJob<D>>
  ): Promise<JobParameters<D>> {
    const job = await super.saveJob(given, options);
    if (job.nextRunAt && !job.lockedAt) {
      const { nextRunAt, name } = job;
      const _id = new ObjectId(String(job._id));
      const data = job.data as JobDocument['data'] | undefined;
      await requeue(this.#jobs, { _id, lockedAt: null }, { name, data }, { nextRunAt });
    }
    return job;
  }

  /** Never rejects, because Agenda does not await it. After a failure the lock expires. */
  override async unlockJob(job: JobParameters): Promise<void> {
    this.#unstarted.delete(String(job._id));
    const { name, data } = job as Pick<JobDocument, 'name' | 'data'>;
    const locked = { _id: new ObjectId(String(job._id)), name, data };
    await releaseJob(this.#jobs, locked, String(job.lastModifiedBy)).catch(() => {});
  }
}

/** The items that occur at least so many times. */
const atLeast = (times: number, items: readonly string[]): string[] =>
  [...new Set(items)].filter((item) => items.filter((other) => other === item).length >= times);

/** Converts a claimed job to the form that Agenda expects: without null fields and its lock. */
function toParameters(job: JobDocument): JobParameters {
  const { _id, waitingKey: _, lockedAt: __, ...fields } = job;
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  const parameters = { ...Object.fromEntries(present), nextRunAt: null };
  return { ...parameters, _id: toJobId(job._id.toHexString()) } as unknown as JobParameters;
}

/** Creates an Agenda on the store's connection. */
export function createAgenda(
  db: Db,
  options: Omit<ConstructorParameters<typeof Agenda>[0], 'backend'> = {},
  shares: Shares = {},
): Agenda {
  const repository = new JobRepository(db, shares);
  const backend: AgendaBackend = {
    name: 'MongoDB',
    repository,
    // The store closes the connection.
    ownsConnection: false,
    // Sends no command: the repository uses this connection and creates no index.
    connect: () => repository.connect(),
    disconnect: async () => {},
  };
  return new Agenda({ ...options, backend });
}
