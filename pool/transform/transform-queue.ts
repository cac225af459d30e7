import { extname } from 'node:path';
import { ServiceError } from '../../contract/errors.ts';
import type { EngineSettings } from '../settings.ts';
import type { RenderLimits } from './picture.ts';
import type { Rendered } from './render.ts';
import type { ThreadResult } from './thread.ts';
import { ThreadPool } from './thread-pool.ts';
import type { Variant } from './variant.ts';

export interface Transformed extends Rendered {
  /** Time that the request waited for a thread. */
  readonly queueMs: number;
  /** Time that the thread worked on it. */
  readonly transformMs: number;
}

export interface TransformOptions {
  /** When it aborts, the promise rejects at once with its reason. */
  readonly signal: AbortSignal;
  /** Work that nobody waits for: it runs only when no other work waits. */
  readonly background?: boolean;
  /** Aborts when somebody comes to wait for background work, which is live work from then on. */
  readonly promoted?: AbortSignal;
  /** The bytes behind the variant's watermark, when it has one. */
  readonly watermark?: Uint8Array | null;
}

export interface PoolStats {
  /** ThreadPool that are busy, with what their callers gave up included. */
  readonly active: number;
  /** Waiting for a thread, background work aside. */
  readonly queued: number;
  readonly backgroundQueued: number;
  readonly concurrency: number;
  readonly maxQueue: number;
  /** Refused as `overloaded`. */
  readonly rejected: number;
  /** Ended on a thread, in whatever way. */
  readonly completed: number;
  /** ms since a transform last ended while some wait or run, else 0: shows a stuck pool. */
  readonly stalledMs: number;
  readonly threadsReplaced: number;
}

type PoolSettings = Pick<
  EngineSettings,
  'threads' | 'queue' | 'sourceMaxPixels' | 'transformTimeoutMs'
>;

interface Job {
  readonly source: Uint8Array;
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  background: boolean;
  readonly queuedAt: number;
  /** Ends the job when it has waited too long; does nothing to one that runs. */
  deadline: NodeJS.Timeout | null;
  /** Both do nothing once the caller has been answered. */
  readonly resolve: (transformed: Transformed) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * How long work may wait for a thread, as a multiple of the time that a transform may take: a client
 * that is refused can try again, one that is never answered cannot. The worker waits longer.
 */
const waitFactor = { live: 1, background: 10 };

/** Background work that may wait, as a multiple of the queue for live work. */
const backgroundQueueFactor = 4;

const defaultEntry = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** Transforms on threads, with a bounded number of them running and waiting. */
export class TransformQueue {
  readonly #settings: PoolSettings;
  readonly #limits: RenderLimits;
  readonly #threads: ThreadPool;
  // Sets keep the order of arrival, and let one that gives up leave from the middle.
  readonly #waiting = new Set<Job>();
  readonly #waitingBackground = new Set<Job>();
  readonly #running = new Map<Job, Promise<void>>();
  #backgroundRunning = 0;
  #rejected = 0;
  #completed = 0;
  #lastProgress = 0;
  #closed = false;

  constructor(settings: PoolSettings, entry: URL = defaultEntry) {
    this.#settings = settings;
    this.#limits = {
      sourceMaxPixels: settings.sourceMaxPixels,
      // Earlier than the hard bound where whole seconds allow it, since it keeps the thread; where
      // they do not, it still ends native work of a thread that was given up.
      softTimeoutSeconds: Math.max(1, Math.ceil(settings.transformTimeoutMs / 1000) - 1),
    };
    this.#threads = new ThreadPool(entry, settings.threads, () => this.#startNext());
  }

  /** True when a transform would be refused now: lets a caller refuse before it fetches. */
  get full(): boolean {
    const { threads, queue } = this.#settings;
    return this.#closed || this.#running.size + this.#waiting.size >= threads + queue;
  }

  /**
   * @param source copied once, as it is handed to the thread: others may hold it too; so is a
   *   watermark
   * @throws ServiceError overloaded, transform_timeout, source_unsupported, source_corrupt,
   *   source_too_large, parameter_invalid, internal_error
   */
  async transform(
    source: Uint8Array,
    variant: Variant,
    { signal, background = false, promoted, watermark = null }: TransformOptions,
  ): Promise<Transformed> {
    signal.throwIfAborted();
    if (background ? this.#backgroundFull : this.full) {
      this.#rejected += 1;
      throw new ServiceError('overloaded', 'Too many transforms are waiting.');
    }
    let abandon = () => {};
    let promote = () => {};
    try {
      return await new Promise<Transformed>((resolve, reject) => {
        const queuedAt = performance.now();
        const job: Job = {
          source,
          watermark,
          variant,
          background: background && promoted?.aborted !== true,
          queuedAt,
          deadline: null,
          resolve,
          reject,
        };
        // A running transform goes on without its caller: to end a thread inside native code takes
        // as long as the code, and its successor has to load everything again. The thread counts as
        // busy until it is done.
        abandon = () => {
          this.#leaveQueue(job);
          reject(signal.reason);
        };
        promote = () => this.#promote(job);
        signal.addEventListener('abort', abandon, { once: true });
        promoted?.addEventListener('abort', promote, { once: true });
        if (this.#idle) this.#lastProgress = queuedAt;
        (job.background ? this.#waitingBackground : this.#waiting).add(job);
        this.#setDeadline(job);
        this.#startNext();
      });
    } finally {
      signal.removeEventListener('abort', abandon);
      promoted?.removeEventListener('abort', promote);
    }
  }

  stats(): PoolStats {
    return {
      active: this.#running.size,
      queued: this.#waiting.size,
      backgroundQueued: this.#waitingBackground.size,
      concurrency: this.#settings.threads,
      maxQueue: this.#settings.queue,
      rejected: this.#rejected,
      completed: this.#completed,
      stalledMs: this.#idle ? 0 : Math.round(performance.now() - this.#lastProgress),
      threadsReplaced: this.#threads.replaced,
    };
  }

  /** Refuses what waits and what comes, lets what runs end (the timeout bounds it), then stops. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#waiting, ...this.#waitingBackground]) {
      this.#leaveQueue(job);
      job.reject(new ServiceError('overloaded', 'The service is shutting down.'));
    }
    await Promise.all(this.#running.values());
    await this.#threads.close();
  }

  get #idle(): boolean {
    return this.#running.size + this.#waiting.size + this.#waitingBackground.size === 0;
  }

  get #backgroundFull(): boolean {
    const bound = backgroundQueueFactor * Math.max(1, this.#settings.queue);
    return this.#closed || this.#waitingBackground.size >= bound;
  }

  #startNext(): void {
    while (this.#running.size < this.#settings.threads && this.#threads.available) {
      const job = first(this.#waiting) ?? this.#nextBackground();
      if (job === undefined) return;
      this.#leaveQueue(job);
      this.#running.set(job, this.#run(job));
    }
  }

  /** One thread is kept free of background work, where there is more than one. */
  #nextBackground(): Job | undefined {
    const most = Math.max(1, this.#settings.threads - 1);
    return this.#backgroundRunning < most ? first(this.#waitingBackground) : undefined;
  }

  #setDeadline(job: Job): void {
    if (job.deadline !== null) clearTimeout(job.deadline);
    const factor = job.background ? waitFactor.background : waitFactor.live;
    job.deadline = setTimeout(() => {
      this.#leaveQueue(job);
      this.#rejected += 1;
      job.reject(new ServiceError('overloaded', 'The transform waited too long for a thread.'));
    }, factor * this.#settings.transformTimeoutMs);
  }

  #leaveQueue(job: Job): void {
    this.#waiting.delete(job);
    this.#waitingBackground.delete(job);
    if (job.deadline !== null) clearTimeout(job.deadline);
  }

  #promote(job: Job): void {
    if (!job.background) return;
    job.background = false;
    if (this.#waitingBackground.delete(job)) {
      this.#waiting.add(job);
      this.#setDeadline(job);
    }
    if (this.#running.has(job)) this.#backgroundRunning -= 1;
    this.#startNext();
  }

  async #run(job: Job): Promise<void> {
    const { source, watermark, variant } = job;
    const startedAt = performance.now();
    if (job.background) this.#backgroundRunning += 1;
    const run = this.#threads.run({ source, watermark, variant, limits: this.#limits });
    let gone: Promise<void> | undefined;
    // Counted from the hand-over. Only a process's first transforms may find a thread still starting.
    const timer = setTimeout(() => {
      job.reject(new ServiceError('transform_timeout', 'The transform took too long.'));
      gone = run.terminate();
    }, this.#settings.transformTimeoutMs);
    try {
      settle(job, await run.result, startedAt - job.queuedAt);
    } catch (error) {
      job.reject(new ServiceError('internal_error', 'The transform ended unexpectedly.', error));
    }
    clearTimeout(timer);
    // A thread that is stuck in native code still has its core, so its place is not given away.
    await gone;
    if (job.background) this.#backgroundRunning -= 1;
    this.#running.delete(job);
    this.#completed += 1;
    this.#lastProgress = performance.now();
    this.#startNext();
  }
}

function settle(job: Job, result: ThreadResult, queueMs: number): void {
  if (result.ok) {
    const { ok, ...rendered } = result;
    job.resolve({ ...rendered, queueMs });
  } else {
    const { code, message } = result.failure;
    job.reject(new ServiceError(code, message, threadError(result.detail)));
  }
}

/** What a thread's error looked like there; as an error, because a logger shows no other cause. */
function threadError(detail: string): Error {
  const error = new Error('on a transform thread');
  error.stack = detail;
  return error;
}

function first(jobs: ReadonlySet<Job>): Job | undefined {
  const [job] = jobs;
  return job;
}
