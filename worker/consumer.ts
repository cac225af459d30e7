import { randomUUID } from 'node:crypto';
import { type Agenda, type BackoffStrategy, exponential, type Job, when } from 'agenda';
import type { NegotiableFormat } from '../contract/auto-formats.ts';
import type { Logger } from '../contract/log.ts';
import { createAgenda } from '../store/agenda.ts';
import type { CallbackJob } from '../store/callbacks.ts';
import { findDeployment } from '../store/deployment.ts';
import { recordRegularly } from '../store/heartbeat.ts';
import { JobQueue } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { PurgeHookJob } from '../store/purges.ts';
import {
  callbackJobName,
  lockLifetimeMs as defaultLockLifetimeMs,
  type JobCounts,
  type PrewarmJobData,
  prewarmJobName,
  purgeHookJobName,
} from '../store/waiting-jobs.ts';
import { ClaimTrigger } from './claim-trigger.ts';
import { holdLock, type JobLock } from './job-lock.ts';
import type { WorkerMetrics } from './metrics.ts';
import { warmRequests } from './variants.ts';
import { WarmingFailed, warm } from './warm.ts';
import { type WebhookSettings, Webhooks, webhookBackOff, webhookConcurrency } from './webhooks.ts';

/** Queue polling interval in ms; when a job ends, the worker claims the next immediately. */
const pollEveryMs = 500;
/** How long ended jobs stay visible in the workbench, ms. */
const keepEndedMs = 24 * 60 * 60 * 1_000;
const removeEndedEveryMs = 10 * 60 * 1_000;
/**
 * Retries a job after 2 s, 4 s, 8 s … up to a minute, for about five minutes in all, unless a retry
 * cannot succeed.
 */
export const backOff = when(
  ({ error }) => !(error instanceof WarmingFailed) || error.retryable,
  exponential({ delay: 2_000, maxDelay: 60_000, maxRetries: 8 }),
);

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
  readonly #trigger = new ClaimTrigger();
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
    this.agenda.notifyVia(this.#trigger);
    this.agenda.on('complete', ({ attrs: { name } }: Job) => {
      // Agenda counts the job as locked until its run has returned.
      setImmediate(() => void this.#trigger.claim(name));
    });
    const webhooks = new Webhooks(options);
    this.#define<PrewarmJobData>(prewarmJobName, concurrency, backOff, (job, signal, lock) =>
      this.#warm(job, signal, lock),
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
    run: (job: Job<D>, signal: AbortSignal, lock: JobLock) => Promise<void>,
  ): void {
    this.agenda.define<D>(name, (job) => this.#hold(job, run), {
      concurrency,
      lockLimit: concurrency,
      lockLifetime: this.#lockLifetimeMs,
      backoff: (context) =>
        // A stopped job has not failed: the next worker continues it immediately.
        this.#stopping.signal.aborted ? 0 : backOff(context),
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
      recordRegularly(this.#options.store.db, 'worker'),
    ];
    void this.#removeEnded();
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

  /** Runs a job while this worker holds its lock. */
  async #hold<D>(
    job: Job<D>,
    run: (job: Job<D>, signal: AbortSignal, lock: JobLock) => Promise<void>,
  ): Promise<void> {
    const lock = holdLock(job, this.#lockLifetimeMs);
    try {
      await run(job, AbortSignal.any([this.#stopping.signal, lock.lost]), lock);
    } catch (error) {
      // A stop does not use up an attempt.
      if (this.#stopping.signal.aborted) job.attrs.failCount = (job.attrs.failCount ?? 0) - 1;
      throw error;
    } finally {
      await lock.end();
    }
  }

  async #warm(job: Job<PrewarmJobData>, signal: AbortSignal, lock: JobLock): Promise<void> {
    const { store, log, metrics, autoFormats, serviceUrl } = this.#options;
    const { data } = job.attrs;
    // Logs omit the query, which can contain a secret for the source's host.
    const [source] = data.source.split('?', 1);
    const logFields = { job: String(job.attrs._id), project: data.projectId, source };
    const startedAt = performance.now();
    let counts: JobCounts = { done: 0, failed: 0, total: 0 };
    try {
      await warm(warmRequests(data, autoFormats), {
        serviceUrl,
        secret: (await findDeployment(store.db)).backgroundSecret,
        signal,
        onProgress: async (now) => {
          counts = now;
          log.debug({ ...logFields, ...now }, 'prewarming source');
          // Stored with the job's state.
          job.attrs.data = { ...data, counts: now };
          await lock.progress(toPercent(now));
        },
      });
      metrics.finished('done', performance.now() - startedAt);
      log.info({ ...logFields, ...counts }, 'source prewarmed');
    } catch (error) {
      if (this.#stopping.signal.aborted) {
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
}

const toPercent = ({ done, failed, total }: JobCounts): number =>
  total === 0 ? 0 : Math.floor((100 * (done + failed)) / total);
