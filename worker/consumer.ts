import { randomUUID } from 'node:crypto';
import type { Agenda, BackoffStrategy, Job } from 'agenda';
import type { Logger } from '../contract/log.ts';
import { createAgenda, LockLost } from '../store/agenda.ts';
import { findDeployment } from '../store/deployment.ts';
import { type JobCounts, JobQueue, type PrewarmJobData, prewarmJobName } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { WorkerMetrics } from './metrics.ts';
import { warmRequests } from './variants.ts';
import { WarmingFailed, warm } from './warm.ts';

/** A job whose worker died is taken up again after this, ms; a long job renews its lock. */
const defaultLockLifetimeMs = 30_000;
/** A lock is renewed this often in its lifetime … */
const renewals = 6;
/** … and work that could not renew it for this part of it ends, before another worker begins. */
const unrenewedPart = 2 / 3;
/** How often the queue is looked at. */
const pollEveryMs = 500;
/** Finished jobs are kept this long to be looked at, ms. */
const keepEndedMs = 24 * 60 * 60 * 1_000;
const tidyEveryMs = 10 * 60 * 1_000;
/** 2 s, 4 s, 8 s … up to a minute: about five minutes in all. */
const retries = { first: 2_000, most: 60_000, attempts: 8 };

/** Retries what can pass, with growing pauses; what cannot is not tried again. */
export const backOff: BackoffStrategy = ({ attempt, error }) => {
  if (error instanceof WarmingFailed && !error.passing) return null;
  if (attempt > retries.attempts) return null;
  return Math.min(retries.first * 2 ** (attempt - 1), retries.most);
};

export interface ConsumerOptions {
  readonly store: Pick<Store, 'db'>;
  readonly baseUrl: string;
  readonly concurrency: number;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  /** The same for all workers of a queue. */
  readonly lockLifetimeMs?: number;
}

/** Takes prewarm jobs from the queue and does them. */
export class Consumer {
  readonly agenda: Agenda;
  readonly queue: JobQueue;
  readonly #options: ConsumerOptions;
  readonly #stopping = new AbortController();
  /** Of this consumer alone, on whatever machine. */
  readonly #name = `worker-${process.pid}-${randomUUID()}`;
  readonly #lockLifetimeMs: number;
  #tidying: NodeJS.Timeout | null = null;
  #accepting = false;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    const { store, concurrency, lockLifetimeMs = defaultLockLifetimeMs } = options;
    this.#lockLifetimeMs = lockLifetimeMs;
    this.queue = new JobQueue(store.db);
    this.agenda = createAgenda(store.db, {
      name: this.#name,
      processEvery: pollEveryMs,
      maxConcurrency: concurrency,
      defaultConcurrency: concurrency,
    });
    this.agenda.define<PrewarmJobData>(prewarmJobName, (job) => this.#run(job), {
      concurrency,
      lockLimit: concurrency,
      lockLifetime: lockLifetimeMs,
      backoff: (context) =>
        // Stopped and not failed: whoever comes next goes on at once.
        this.#stopping.signal.aborted ? 0 : backOff(context),
    });
  }

  /** Whether jobs are being taken from the queue. */
  get accepting(): boolean {
    return this.#accepting && !this.#stopping.signal.aborted;
  }

  /** May be repeated when it fails, as while the store is away. */
  async start(): Promise<void> {
    await this.agenda.ready;
    await this.queue.ensureIndexes();
    await this.agenda.start();
    this.#accepting = true;
    this.#tidying = setInterval(() => void this.#tidy(), tidyEveryMs);
    void this.#tidy();
  }

  /** Ends the jobs under way between two variants, so that another worker can go on with them. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping.abort();
    if (this.#tidying !== null) clearInterval(this.#tidying);
    if (!this.#accepting) return;
    await this.agenda.drain({ timeout: withinMs, closeConnection: false });
    // What was locked and not begun, or did not end in time, is not left to its lock's lifetime.
    await this.queue.release(this.#name);
  }

  async #run(job: Job<PrewarmJobData>): Promise<void> {
    const { store, baseUrl, log, metrics } = this.#options;
    const { data } = job.attrs;
    const id = String(job.attrs._id);
    const about = { job: id, project: data.projectId, source: data.source };
    const startedAt = performance.now();
    const lock = this.#hold(job);
    let counts: JobCounts = { done: 0, failed: 0, total: 0 };
    try {
      const { backgroundSecret } = await findDeployment(store.db);
      await warm(warmRequests(data), {
        baseUrl,
        secret: backgroundSecret,
        signal: AbortSignal.any([this.#stopping.signal, lock.lost]),
        onProgress: async (now) => {
          counts = now;
          log.debug({ ...about, ...now }, 'progress');
          await Promise.all([lock.renew(percentOf(now)), this.queue.setCounts(id, now)]);
        },
      });
      metrics.finished('done', performance.now() - startedAt);
      log.info({ ...about, ...counts }, 'a source is warm');
    } catch (error) {
      if (this.#stopping.signal.aborted) {
        // Not a failure, so it uses up none of the attempts.
        job.attrs.failCount = (job.attrs.failCount ?? 0) - 1;
        log.info({ ...about, ...counts }, 'a job is left for later');
      } else {
        metrics.finished('failed', performance.now() - startedAt);
        log.warn({ ...about, ...counts, err: error }, 'a source could not be warmed');
      }
      throw error;
    } finally {
      await lock.end();
    }
  }

  /** Renews a job's lock, and says when that has not worked for so long that it may be lost. */
  #hold(job: Job<PrewarmJobData>) {
    const lost = new AbortController();
    let renewedAt = performance.now();
    let percent = 0;
    let renewing: Promise<unknown> = Promise.resolve();
    const renew = async (): Promise<void> => {
      const began = performance.now();
      try {
        await job.touch(percent);
      } catch (error) {
        if (error instanceof LockLost) lost.abort();
        throw error;
      }
      renewedAt = began;
    };
    // A variant may wait long for its turn; the lock must not run out meanwhile.
    const timer = setInterval(() => {
      renewing = Promise.all([renewing, renew().catch(() => {})]);
      const unrenewedMs = performance.now() - renewedAt;
      if (unrenewedMs > this.#lockLifetimeMs * unrenewedPart) lost.abort();
    }, this.#lockLifetimeMs / renewals);
    return {
      lost: lost.signal,
      renew: (now: number) => {
        percent = now;
        return renew();
      },
      /** After this no renewal is under way that could undo the lock's release. */
      end: async () => {
        clearInterval(timer);
        await renewing;
      },
    };
  }

  async #tidy(): Promise<void> {
    try {
      await this.queue.removeEnded(new Date(Date.now() - keepEndedMs));
    } catch (error) {
      this.#options.log.warn({ err: error }, 'ended jobs could not be removed');
    }
  }
}

const percentOf = ({ done, failed, total }: JobCounts): number =>
  total === 0 ? 0 : Math.floor((100 * (done + failed)) / total);
