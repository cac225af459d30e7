import { extname } from 'node:path';
import { ServiceError } from '../../contract/errors.ts';
import type { Image } from '../image.ts';
import type { EngineSettings } from '../settings.ts';
import type { RenderLimits } from './picture.ts';
import type { ThreadResult } from './thread.ts';
import { ThreadPool } from './thread-pool.ts';
import type { Variant } from './variant.ts';

/** An image, with the time that it took. */
export interface Transformed extends Image {
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

interface QueuedTransform {
  readonly source: Uint8Array;
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  background: boolean;
  readonly queuedAt: number;
  /** Ends the task when it has waited too long; does nothing to one that runs. */
  deadline: NodeJS.Timeout | null;
  /** Both do nothing once the caller has been answered. */
  readonly resolve: (transformed: Transformed) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * How long work may wait for a thread. A client that is refused can try again, one that is never
 * answered cannot; the worker waits longer.
 */
export interface WaitLimits {
  readonly liveMs: number;
  readonly backgroundMs: number;
}

const defaultWaitLimits = (transformTimeoutMs: number): WaitLimits => ({
  liveMs: 2 * transformTimeoutMs,
  backgroundMs: 10 * transformTimeoutMs,
});

/** Background work that may wait, as a multiple of the queue for live work. */
const backgroundQueueFactor = 4;

const defaultEntry = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** Transforms on threads, with a bounded number of them running and waiting. */
export class TransformQueue {
  readonly #settings: PoolSettings;
  readonly #limits: RenderLimits;
  readonly #waitLimits: WaitLimits;
  readonly #threads: ThreadPool;
  // Sets keep the order of arrival, and let one that gives up leave from the middle.
  readonly #waiting = new Set<QueuedTransform>();
  readonly #waitingBackground = new Set<QueuedTransform>();
  readonly #running = new Map<QueuedTransform, Promise<void>>();
  #backgroundRunning = 0;
  #rejected = 0;
  #completed = 0;
  #lastProgress = 0;
  #closed = false;

  constructor(
    settings: PoolSettings,
    entry: URL = defaultEntry,
    waitLimits = defaultWaitLimits(settings.transformTimeoutMs),
  ) {
    this.#settings = settings;
    this.#waitLimits = waitLimits;
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
        const task: QueuedTransform = {
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
          this.#leaveQueue(task);
          reject(signal.reason);
        };
        promote = () => this.#promote(task);
        signal.addEventListener('abort', abandon, { once: true });
        promoted?.addEventListener('abort', promote, { once: true });
        if (this.#idle) this.#lastProgress = queuedAt;
        (task.background ? this.#waitingBackground : this.#waiting).add(task);
        this.#setDeadline(task);
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
    for (const task of [...this.#waiting, ...this.#waitingBackground]) {
      this.#leaveQueue(task);
      task.reject(new ServiceError('overloaded', 'The service is shutting down.'));
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
      const task = first(this.#waiting) ?? this.#nextBackground();
      if (task === undefined) return;
      this.#leaveQueue(task);
      this.#running.set(task, this.#run(task));
    }
  }

  /** One thread is kept free of background work, where there is more than one. */
  #nextBackground(): QueuedTransform | undefined {
    const most = Math.max(1, this.#settings.threads - 1);
    return this.#backgroundRunning < most ? first(this.#waitingBackground) : undefined;
  }

  #setDeadline(task: QueuedTransform): void {
    if (task.deadline !== null) clearTimeout(task.deadline);
    const { liveMs, backgroundMs } = this.#waitLimits;
    task.deadline = setTimeout(
      () => {
        this.#leaveQueue(task);
        this.#rejected += 1;
        task.reject(new ServiceError('overloaded', 'The transform waited too long for a thread.'));
      },
      task.background ? backgroundMs : liveMs,
    );
  }

  #leaveQueue(task: QueuedTransform): void {
    this.#waiting.delete(task);
    this.#waitingBackground.delete(task);
    if (task.deadline !== null) clearTimeout(task.deadline);
  }

  #promote(task: QueuedTransform): void {
    if (!task.background) return;
    task.background = false;
    if (this.#waitingBackground.delete(task)) {
      this.#waiting.add(task);
      this.#setDeadline(task);
    }
    if (this.#running.has(task)) this.#backgroundRunning -= 1;
    this.#startNext();
  }

  async #run(task: QueuedTransform): Promise<void> {
    const { source, watermark, variant } = task;
    const startedAt = performance.now();
    if (task.background) this.#backgroundRunning += 1;
    const run = this.#threads.run({ source, watermark, variant, limits: this.#limits });
    let gone: Promise<void> | undefined;
    // Counted from the hand-over. Only a process's first transforms may find a thread still starting.
    const timer = setTimeout(() => {
      task.reject(new ServiceError('transform_timeout', 'The transform took too long.'));
      gone = run.terminate();
    }, this.#settings.transformTimeoutMs);
    try {
      settle(task, await run.result, startedAt - task.queuedAt);
    } catch (error) {
      task.reject(new ServiceError('internal_error', 'The transform ended unexpectedly.', error));
    }
    clearTimeout(timer);
    // A thread that is stuck in native code still has its core, so its place is not given away.
    await gone;
    if (task.background) this.#backgroundRunning -= 1;
    this.#running.delete(task);
    this.#completed += 1;
    this.#lastProgress = performance.now();
    this.#startNext();
  }
}

function settle(task: QueuedTransform, result: ThreadResult, queueMs: number): void {
  if (result.ok) {
    const { ok, ...image } = result;
    task.resolve({ ...image, queueMs });
  } else {
    const { code, message } = result.error;
    task.reject(new ServiceError(code, message, threadError(result.detail)));
  }
}

/** What a thread's error looked like there; as an error, because a logger shows no other cause. */
function threadError(detail: string): Error {
  const error = new Error('on a transform thread');
  error.stack = detail;
  return error;
}

function first(queued: ReadonlySet<QueuedTransform>): QueuedTransform | undefined {
  const [task] = queued;
  return task;
}
