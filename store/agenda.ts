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
  releaseJob,
  requeue,
} from './waiting-jobs.ts';

const reconnectEveryMs = 1_000;
/** Interval at which a consumer polls for expired locks and for delayed jobs that are due, ms. */
const pollEveryMs = 500;
/** One that runs, and one that takes what the first one does not. Agenda claims at each poll, however long it takes. */
const maxClaims = 2;
/**
 * Agenda starts taken jobs only when it has found no further one of any kind. While a job has waited for this long,
 * ms, it finds none: the lock must not expire before the job starts.
 */
const startWithinMs = 1_000;

/** Thrown when a worker starts, or saves the state of, a job that another worker has locked in the meantime. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** How many jobs of a project, and for a receiver, a consumer runs at a time; by the name of the kind. */
export type Shares = Readonly<
  Record<string, { readonly project: number; readonly receiver: number }>
>;

interface Kind {
  readonly lowest: LowestTurn;
  readonly turns: JobTurns;
  /** When expired locks and jobs without a turn are looked for again, by the clock of `performance`. */
  pollAt: number;
  claim: Promise<unknown>;
  /** The number of claims that run or wait. */
  claims: number;
}

type SaveJobState = Parameters<MongoJobRepository['saveJobState']>;

/**
 * Agenda's repository, with four changes:
 *
 * - Jobs are taken in the order of their turns (job-turns.ts), by an index for both filter and order. Agenda's
 *   own query examines all jobs. Those of a project or a receiver that has its share of a consumer's places are
 *   left to others.
 * - The state is saved only while the lock is held. Agenda does not check it (agenda/agenda#589): a worker
 *   that was suspended for longer than its lock would overwrite the state of the job's next worker.
 * - A taken job has no `lockedAt` until it starts. Agenda drops a job whose lock has expired before, and never
 *   frees its place.
 * - A job that waits again gets its `waitingKey` again.
 */
class JobRepository extends MongoJobRepository {
  readonly #kinds = new Map<string, Kind>();
  /** When the jobs that have not started were taken, by id, in this order. */
  readonly #taken = new Map<string, Date>();
  readonly #jobs: Jobs;
  readonly #shares: Shares;

  constructor(db: Db, shares: Shares) {
    // The queue creates its own indexes.
    super({ mongo: db, db: { collection: jobsCollection }, ensureIndex: false });
    this.#jobs = db.collection(jobsCollection);
    this.#shares = shares;
  }

  #kindOf(name: string): Kind {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const jobs = this.#jobs;
    const kind: Kind = {
      lowest: new LowestTurn(jobs, name),
      turns: new JobTurns(jobs, name),
      pollAt: 0,
      claim: Promise.resolve(),
      claims: 0,
    };
    this.#kinds.set(name, kind);
    return kind;
  }

  override async getNextJobToRun(
    name: string,
    _nextScanAt: Date,
    lockDeadline: Date,
    _now?: Date,
    options?: SaveJobState[1],
  ): Promise<JobParameters | undefined> {
    const kind = this.#kindOf(name);
    if (kind.claims === maxClaims) return undefined;
    kind.claims += 1;
    // One after the other: concurrent claims would exceed a share together.
    const claim = kind.claim.then(() => this.#claim(name, lockDeadline, options));
    kind.claim = claim.catch(() => {});
    try {
      return await claim;
    } finally {
      kind.claims -= 1;
    }
  }

  async #claim(
    name: string,
    lockDeadline: Date,
    options?: SaveJobState[1],
  ): Promise<JobParameters | undefined> {
    const [oldest] = this.#taken.values();
    if (oldest !== undefined && !startsInTime(oldest)) return undefined;
    const lastModifiedBy = options?.lastModifiedBy ?? null;
    const take = async (filter: Filter<JobDocument>, sort: Sort) => {
      const lockedAt = new Date();
      const lock = { lockedAt, lastModifiedBy, nextRunAt: null, lastRunAt: lockedAt };
      const job = await this.#jobs.findOneAndUpdate(
        filter,
        { $set: lock, $unset: { turn: true, waitingKey: true } },
        { sort, returnDocument: 'before' },
      );
      if (job !== null) this.#taken.set(job._id.toHexString(), lockedAt);
      return job && { ...job, ...lock };
    };
    const kind = this.#kindOf(name);
    const among = await this.#withinShares(name, lockDeadline, lastModifiedBy);
    const takeNext = () => kind.lowest.find((filter) => take(filter, { turn: 1 }), among);
    const assignDue = () => this.#assignDue(kind);
    if (performance.now() >= kind.pollAt) {
      const expired = { ...among, name, lockedAt: { $gt: epoch, $lte: lockDeadline } };
      const abandoned = await take(expired, { lockedAt: 1 });
      if (abandoned !== null) return parametersOf(abandoned);
      await assignDue();
    }
    const next = (await takeNext()) ?? ((await assignDue()) ? await takeNext() : null);
    return next === null ? undefined : parametersOf(next);
  }

  /** @returns whether a job without a turn was due */
  async #assignDue(kind: Kind): Promise<boolean> {
    const assigned = await kind.turns.assignDue(new Date());
    kind.pollAt = assigned > 0 ? 0 : performance.now() + pollEveryMs;
    return assigned > 0;
  }

  /** The jobs that a consumer may take. */
  async #withinShares(
    name: string,
    lockDeadline: Date,
    consumer: string | null,
  ): Promise<Filter<JobDocument>> {
    const share = this.#shares[name];
    if (share === undefined) return {};
    const held = { name, lockedAt: { $gt: lockDeadline }, lastModifiedBy: consumer };
    const running = await this.#jobs.find(held).toArray();
    const projects = running.map(({ data }) => data?.projectId);
    const receivers = running.flatMap(({ receiver }) => receiver ?? []);
    return {
      'data.projectId': { $nin: atLeast(share.project, projects) },
      receiver: { $nin: atLeast(share.receiver, receivers) },
    };
  }

  override async saveJobState(...[job, options]: SaveJobState): Promise<void> {
    const takenAt = this.#taken.get(String(job._id));
    if (takenAt !== undefined) {
      this.#taken.delete(String(job._id));
      const isInTime = startsInTime(takenAt);
      job.lockedAt = isInTime ? takenAt : new Date();
      // The state of the job's start was stored when it was taken.
      if (isInTime) return;
    }
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

/** The items that occur at least so many times. */
const atLeast = (times: number, items: readonly string[]): string[] =>
  [...new Set(items)].filter((item) => items.filter((one) => one === item).length >= times);

/** Whether the lock of a job that starts now is as good as new. */
const startsInTime = (takenAt: Date): boolean => Date.now() - takenAt.getTime() < startWithinMs;

/** Converts a taken job to the form that Agenda expects: without null fields. */
function parametersOf(job: JobDocument): JobParameters {
  const { _id, turn: _, waitingKey: __, lockedAt: ___, ...fields } = job;
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  const parameters = { ...Object.fromEntries(present), nextRunAt: null };
  return { ...parameters, _id: toJobId(job._id.toHexString()) } as unknown as JobParameters;
}

class StoreBackend implements AgendaBackend {
  readonly name = 'MongoDB';
  readonly ownsConnection = false;
  readonly repository: MongoJobRepository;

  constructor(db: Db, shares: Shares) {
    this.repository = new JobRepository(db, shares);
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
  shares: Shares = {},
): Agenda {
  return new Agenda({ ...options, backend: new StoreBackend(db, shares) });
}
