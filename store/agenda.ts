import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda, type AgendaBackend, type JobParameters, toJobId } from 'agenda';
import { type Db, type Filter, ObjectId, type Sort } from 'mongodb';
import { JobTurns } from './job-turns.ts';
import {
  epoch,
  type JobDocument,
  type Jobs,
  jobsCollection,
  releaseJob,
  requeue,
} from './waiting-jobs.ts';

/** Interval in ms at which a consumer polls for expired locks and due delayed jobs. */
const pollEveryMs = 500;
/**
 * The first claim processes jobs; the second takes jobs that the first leaves. Agenda adds a claim
 * at each poll, no matter how long a claim takes.
 */
const maxClaims = 2;
/**
 * Agenda starts claimed jobs only when it finds no more jobs of any kind. After a job has waited
 * for this long (ms), the repository reports no more jobs, so that the job starts before its lock
 * expires.
 */
const startWithinMs = 1_000;

/** Thrown when a worker starts, or saves the state of, a job that another worker has locked in the meantime. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Maximum concurrent jobs per project and per receiver in a consumer, by job kind. */
export type Shares = Readonly<
  Record<string, { readonly project: number; readonly receiver: number }>
>;

interface Kind {
  readonly turns: JobTurns;
  /**
   * Time of the next search for expired locks and jobs without a turn, by the `performance` clock.
   */
  pollAt: number;
  claim: Promise<unknown>;
  /** The number of claims that run or wait. */
  claims: number;
}

type SaveJobState = Parameters<MongoJobRepository['saveJobState']>;

/**
 * Agenda's repository, with four changes:
 *
 * - Claims jobs in turn order (job-turns.ts), through an index that covers filter and order,
 *   because Agenda's own query examines all jobs. Skips projects and receivers that already use
 *   their share of a consumer's places.
 * - Saves a job's state only while the worker holds the lock. Agenda does not check the lock
 *   (agenda/agenda#589), so a worker suspended past its lock would overwrite the next worker's
 *   state.
 * - Hides `lockedAt` from Agenda until a claimed job starts. Agenda drops a job if its lock expires
 *   before the start, and never frees its place.
 * - Restores a job's `waitingKey` when the job has to wait again.
 */
class JobRepository extends MongoJobRepository {
  readonly #kinds = new Map<string, Kind>();
  /** Claim times of jobs that have not started, by id, oldest first. */
  readonly #taken = new Map<string, Date>();
  readonly #jobs: Jobs;
  readonly #shares: Shares;

  constructor(db: Db, shares: Shares) {
    // The queue creates its own indexes.
    super({ mongo: db, db: { collection: jobsCollection }, ensureIndex: false });
    this.#jobs = db.collection(jobsCollection);
    this.#shares = shares;
  }

  #getKind(name: string): Kind {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const kind: Kind = {
      turns: new JobTurns(this.#jobs, name),
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
    const kind = this.#getKind(name);
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
    const kind = this.#getKind(name);
    const among = await this.#withinShares(name, lockDeadline, lastModifiedBy);
    const takeNext = () => kind.turns.findLowest((filter) => take(filter, { turn: 1 }), among);
    const assignDue = () => this.#assignDue(kind);
    if (performance.now() >= kind.pollAt) {
      const expired = { ...among, name, lockedAt: { $gt: epoch, $lte: lockDeadline } };
      const abandoned = await take(expired, { lockedAt: 1 });
      if (abandoned !== null) return toParameters(abandoned);
      await assignDue();
    }
    const next = (await takeNext()) ?? ((await assignDue()) ? await takeNext() : null);
    return next === null ? undefined : toParameters(next);
  }

  /** @returns whether any job without a turn was due */
  async #assignDue(kind: Kind): Promise<boolean> {
    const assigned = await kind.turns.assignDue(new Date());
    kind.pollAt = assigned > 0 ? 0 : performance.now() + pollEveryMs;
    return assigned > 0;
  }

  /** The jobs that a consumer can claim within its shares. */
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
      // The claim has already stored the start state.
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
  [...new Set(items)].filter((item) => items.filter((other) => other === item).length >= times);

/** Returns whether a job that starts now holds a nearly unused lock. */
const startsInTime = (takenAt: Date): boolean => Date.now() - takenAt.getTime() < startWithinMs;

/** Converts a taken job to the form that Agenda expects: without null fields. */
function toParameters(job: JobDocument): JobParameters {
  const { _id, turn: _, waitingKey: __, lockedAt: ___, ...fields } = job;
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
