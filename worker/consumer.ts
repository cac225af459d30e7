import { randomUUID } from 'node:crypto';
import {
  type Agenda,
  type BackoffStrategy,
  exponential,
  InMemoryNotificationChannel,
  type Job,
  when,
} from 'agenda';
import type { NegotiableFormat } from '../contract/image-terms.ts';
import type { Logger } from '../contract/log.ts';
import { createAgenda, LockLost } from '../store/agenda.ts';
import type { CallbackJob } from '../store/callbacks.ts';
import { findDeployment } from '../store/deployment.ts';
import { recordHeartbeats } from '../store/heartbeat.ts';
import {
  callbackJobName,
  lockLifetimeMs as defaultLockLifetimeMs,
  type JobCounts,
  JobQueue,
  type PrewarmJobData,
  prewarmJobName,
  purgeHookJobName,
} from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { PurgeHookJob } from '../store/purges.ts';
import type { WorkerMetrics } from './metrics.ts';
import { PrewarmFailed, warm } from './prewarm.ts';
import { prewarmRequests } from './variants.ts';
import { type WebhookSettings, Webhooks, webhookBackOff, webhookConcurrency } from './webhooks.ts';

/** Queue polling interval in ms; when a job ends, the worker claims the next immediately. */
const pollEveryMs = 500;
/** How long ended jobs stay visible in the workbench, ms. */
const keepEndedMs = 24 * 60 * 60 * 1_000;
const removeEndedEveryMs = 10 * 60 * 1_000;
/** Interval in ms at which a worker looks for calls whose jobs are not in the queue yet. */
const addPendingEveryMs = 5_000;
/** Lock renewals per lifetime. */
const renewalsPerLifetime = 6;
/**
 * Fraction of the lifetime after which a job with an unrenewed lock stops, because another worker
 * can start it.
 */
const lockLossThreshold = 2 / 3;
/** Minimum interval in ms between progress updates; the job's end also stores progress. */
const progressEveryMs = 1_000;
/**
 * Retries a job after 2 s, 4 s, 8 s … up to a minute, for about five minutes in all, unless a retry
 * cannot succeed.
 */
export const backOff = when(
  ({ error }) => !(error instanceof PrewarmFailed) || error.retryable,
  exponential({ delay: 2_000, maxDelay: 60_000, maxRetries: 8 }),
);

/** A job ended early because the worker stops or has lost the lock: it has not failed. */
class JobInterrupted extends Error {
  override readonly name = 'JobInterrupted';
}

/** @param percent also stored when the job ends */
type OnProgress = (percent: number) => Promise<void>;

export interface ConsumerOptions {
  readonly store: Pick<Store, 'db' | 'projects' | 'prewarms' | 'purges'>;
  /** The service's base URL for this worker. */
  readonly serviceUrl: string;
  readonly concurrency: number;
  /** The service's `SERVICE_AUTO_FORMATS`. */
  readonly autoFormats?: readonly NegotiableFormat[];
  readonly webhooks: WebhookSettings;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  /** Must be the same for all workers of a queue. */
  readonly lockLifetimeMs?: number;
}

/** Takes jobs from the queue and runs them. */
export class Consumer {
  readonly agenda: Agenda;
  readonly queue: JobQueue;
  readonly #options: ConsumerOptions;
  readonly #stopping = new AbortController();
  /** Unique across processes and machines. */
  readonly #name = `worker-${process.pid}-${randomUUID()}`;
  readonly #lockLifetimeMs: number;
  readonly #notifications = new InMemoryNotificationChannel();
  #timers: readonly NodeJS.Timeout[] = [];
  #accepting = false;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    const { store, concurrency, lockLifetimeMs = defaultLockLifetimeMs } = options;
    this.#lockLifetimeMs = lockLifetimeMs;
    this.queue = new JobQueue(store.db);
    const { [purgeHookJobName]: hookLimits, [callbackJobName]: callbackLimits } =
      webhookConcurrency;
    const agendaOptions = {
      name: this.#name,
      processEvery: pollEveryMs,
      maxConcurrency: concurrency + hookLimits.all + callbackLimits.all,
      defaultConcurrency: concurrency,
    };
    this.agenda = createAgenda(store.db, agendaOptions, webhookConcurrency);
    this.agenda.notifyVia(this.#notifications);
    this.agenda.on('complete', ({ attrs: { _id: jobId, name: jobName } }: Job) => {
      if (jobId === undefined) return;
      const notification = { jobId, jobName, nextRunAt: null, priority: 0, timestamp: new Date() };
      // Claims the next job at once instead of at the next poll. Agenda counts the ended job as
      // locked until its run has returned.
      setImmediate(() => void this.#notifications.publish(notification).catch(() => {}));
    });
    const webhooks = new Webhooks(options);
    this.#define<PrewarmJobData>(prewarmJobName, concurrency, backOff, (job, signal, onProgress) =>
      this.#warm(job, signal, onProgress),
    );
    this.#define<PurgeHookJob>(purgeHookJobName, hookLimits.all, webhookBackOff, (job, signal) =>
      webhooks.callHook(job, signal),
    );
    this.#define<CallbackJob>(callbackJobName, callbackLimits.all, webhookBackOff, (job, signal) =>
      webhooks.callBack(job, signal),
    );
  }

  /** @param run rejects soon after its signal has aborted */
  #define<D>(
    name: string,
    concurrency: number,
    backOff: BackoffStrategy,
    run: (job: Job<D>, signal: AbortSignal, onProgress: OnProgress) => Promise<void>,
  ): void {
    this.agenda.define<D>(name, (job) => this.#hold(job, run), {
      concurrency,
      lockLimit: concurrency,
      lockLifetime: this.#lockLifetimeMs,
      backoff: (context) => (context.error instanceof JobInterrupted ? 0 : backOff(context)),
    });
  }

  /** Whether the consumer takes jobs from the queue. */
  get accepting(): boolean {
    return this.#accepting && !this.#stopping.signal.aborted;
  }

  /** Starts to take jobs from the queue. Can be called again after a failure. */
  async start(): Promise<void> {
    await this.agenda.ready;
    await this.queue.ensureIndexes();
    await this.agenda.start();
    this.#accepting = true;
    this.#timers = [
      setInterval(() => void this.#removeEnded(), removeEndedEveryMs),
      setInterval(() => void this.#addPending(), addPendingEveryMs),
      recordHeartbeats(this.#options.store.db, 'worker'),
    ];
    void this.#removeEnded();
    void this.#addPending();
  }

  /** Aborts the running jobs and releases their locks, so that other workers continue them. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    if (!this.#accepting) return;
    await this.agenda.drain({ timeout: timeoutMs, closeConnection: false });
    // Releases jobs that have not started, or did not stop in time.
    await this.queue.release(this.#name);
  }

  /** Runs a job while this worker holds its lock, which it renews. */
  async #hold<D>(
    job: Job<D>,
    run: (job: Job<D>, signal: AbortSignal, onProgress: OnProgress) => Promise<void>,
  ): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, lost.signal]);
    let renewedAt = performance.now();
    let renewing: Promise<unknown> = Promise.resolve();
    const renew = async (): Promise<void> => {
      const startedAt = performance.now();
      try {
        await job.touch(job.attrs.progress ?? 0);
      } catch (error) {
        if (error instanceof LockLost) lost.abort();
        throw error;
      }
      renewedAt = startedAt;
    };
    // Uses a timer, because a variant can wait in the service's queue longer than the lock's
    // lifetime.
    const timer = setInterval(() => {
      renewing = Promise.all([renewing, renew().catch(() => {})]);
      const unrenewedMs = performance.now() - renewedAt;
      if (unrenewedMs > this.#lockLifetimeMs * lockLossThreshold) lost.abort();
    }, this.#lockLifetimeMs / renewalsPerLifetime);
    try {
      await run(job, signal, async (percent) => {
        job.attrs.progress = percent;
        if (performance.now() - renewedAt >= progressEveryMs) await renew();
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      // Uses up no attempt: the next worker continues the job immediately.
      job.attrs.failCount = (job.attrs.failCount ?? 0) - 1;
      throw new JobInterrupted(error instanceof Error ? error.message : String(error));
    } finally {
      clearInterval(timer);
      // A renewal in progress could undo the release of the lock.
      await renewing;
    }
  }

  async #warm(
    job: Job<PrewarmJobData>,
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<void> {
    const { store, log, metrics, autoFormats, serviceUrl } = this.#options;
    const { data } = job.attrs;
    // Logs omit the query, which can contain a secret for the source's host.
    const [source] = data.source.split('?', 1);
    const logFields = { job: String(job.attrs._id), project: data.projectId, source };
    const startedAt = performance.now();
    let counts: JobCounts = { done: 0, failed: 0, total: 0 };
    try {
      await warm(prewarmRequests(data, autoFormats), {
        serviceUrl,
        secret: (await findDeployment(store.db)).backgroundSecret,
        signal,
        onProgress: async (now) => {
          counts = now;
          log.debug({ ...logFields, ...now }, 'prewarming source');
          // Stored with the job's state.
          job.attrs.data = { ...data, counts: now };
          await onProgress(toPercent(now));
        },
      });
      metrics.finished('done', performance.now() - startedAt);
      log.info({ ...logFields, ...counts }, 'source prewarmed');
    } catch (error) {
      if (signal.aborted) {
        log.info({ ...logFields, ...counts }, 'job released for later');
      } else {
        metrics.finished('failed', performance.now() - startedAt);
        log.warn({ ...logFields, ...counts, err: error }, 'prewarming source failed');
      }
      throw error;
    }
  }

  async #removeEnded(): Promise<void> {
    try {
      await this.queue.removeEnded(new Date(Date.now() - keepEndedMs));
    } catch (error) {
      this.#options.log.warn({ err: error }, 'removing ended jobs failed');
    }
  }

  async #addPending(): Promise<void> {
    try {
      await this.#options.store.prewarms.addPending();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'queueing prewarm jobs failed');
    }
  }
}

const toPercent = ({ done, failed, total }: JobCounts): number =>
  total === 0 ? 0 : Math.floor((100 * (done + failed)) / total);
