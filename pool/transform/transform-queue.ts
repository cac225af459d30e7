import { extname } from 'node:path';
import { ServiceError } from '../../contract/errors.ts';
import type { Image } from '../image.ts';
import type { EngineSettings } from '../settings.ts';
import { Turns } from '../turns.ts';
import type { Cost } from './cost.ts';
import { Renderers } from './renderers.ts';
import type { TransformResult, TransformTask } from './task.ts';
import type { Variant } from './variant.ts';

/** An image, with the durations of its transform. */
export interface Transformed extends Image {
  /** Time in the queue, in ms. */
  readonly queueMs: number;
  /** Time on the thread, in ms. */
  readonly transformMs: number;
}

export interface TransformOptions {
  /** The id of the project, which has its turns in the queue. */
  readonly project: string;
  /** When it aborts, the promise immediately rejects with its reason. */
  readonly signal: AbortSignal;
  /** Background work has lower priority: it runs when no live work is queued, or after much of it. */
  readonly background?: boolean;
  /**
   * Aborts when a live request begins to wait for background work, which then becomes live work.
   */
  readonly promoted?: AbortSignal;
  /** The bytes of the variant's watermark, when it has one. */
  readonly watermark?: Uint8Array | null;
}

export interface TransformQueueStats {
  /** Busy threads, including those whose callers have aborted. */
  readonly active: number;
  /** Estimated memory of the costly transforms that run, and its limit, in bytes. */
  readonly costlyBytes: number;
  readonly costlyMaxBytes: number;
  /** Live transforms that wait for a thread. */
  readonly queued: number;
  readonly backgroundQueued: number;
  readonly concurrency: number;
  readonly maxQueue: number;
  /** Total refused as `overloaded`. */
  readonly rejected: number;
  /** Total that ended on a thread, successfully or not. */
  readonly completed: number;
  /**
   * ms since a transform last ended, while some are queued or running, else 0: shows a stuck pool.
   */
  readonly stalledMs: number;
  readonly threadsReplaced: number;
}

type TransformQueueSettings = Pick<
  EngineSettings,
  | 'threads'
  | 'queue'
  | 'costlyBytes'
  | 'sourceMaxPixels'
  | 'transformTimeoutMs'
  | 'processMemoryBytes'
>;

type Finished = Exclude<TransformResult, { exceeds: Cost }>;

interface QueuedTransform {
  readonly project: string;
  /** Null until a thread has found that the transform is not light. */
  cost: Cost | null;
  readonly source: Uint8Array;
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  background: boolean;
  /** True when its caller has left. */
  abandoned: boolean;
  readonly queuedAt: number;
  /** Timer that rejects the task when it waits too long; cleared when the task starts. */
  deadline: NodeJS.Timeout | null;
  /** Both have no effect after the promise is settled. */
  readonly resolve: (transformed: Transformed) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Maximum time in the queue. A client that is refused can retry, a client without a response
 * cannot. Background work may wait longer because no client waits for it.
 */
export interface WaitLimits {
  readonly liveMs: number;
  readonly backgroundMs: number;
}

const defaultWaitLimits = (transformTimeoutMs: number): WaitLimits => ({
  liveMs: 2 * transformTimeoutMs,
  backgroundMs: 10 * transformTimeoutMs,
});

/** Maximum length of the background queue, as a multiple of the queue for live work. */
const backgroundQueueFactor = 4;

/** At least every 16th transform is a background one while some wait, so that they make progress. */
const mostOvertaken = 15;

/**
 * Limit of CPU time of a transform process, as a multiple of the timeout. The timeout ends it much
 * earlier, unless this process is stopped.
 */
const cpuTimeouts = 6;

const defaultEntry = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Runs transforms on threads, with limits for running and queued transforms.
 *
 * One project cannot delay another's light transforms. Projects take turns; when the queue is full,
 * a project with fewer queued transforms displaces one of the project with most; and one thread
 * more than the setting is for light transforms of projects that have none running. Whether a
 * transform is light is found by the thread that would do it: one that is not waits again, as a
 * costly one, and such run only as far as the estimates of their memory fit in a limit together.
 */
export class TransformQueue {
  readonly #settings: TransformQueueSettings;
  readonly #limits: TransformTask['limits'];
  readonly #waitLimits: WaitLimits;
  readonly #renderers: Renderers;
  readonly #waiting = new Turns<QueuedTransform>();
  readonly #waitingBackground = new Turns<QueuedTransform>();
  readonly #running = new Map<QueuedTransform, Promise<void>>();
  #backgroundRunning = 0;
  /** Live transforms that were started while background work waited, since the last of that. */
  #overtaken = 0;
  #costlyBytes = 0;
  #rejected = 0;
  #completed = 0;
  #lastProgress = 0;
  #closed = false;

  constructor(
    settings: TransformQueueSettings,
    entry: URL = defaultEntry,
    waitLimits = defaultWaitLimits(settings.transformTimeoutMs),
  ) {
    this.#settings = settings;
    this.#waitLimits = waitLimits;
    this.#limits = {
      sourceMaxPixels: settings.sourceMaxPixels,
      // Where possible in whole seconds, before the hard timeout, because it does not lose the
      // thread; otherwise it still ends the native call of a thread that is being terminated.
      softTimeoutSeconds: Math.max(1, Math.ceil(settings.transformTimeoutMs / 1000) - 1),
    };
    const processLimits = {
      memoryBytes: settings.processMemoryBytes,
      cpuSeconds: Math.ceil((cpuTimeouts * settings.transformTimeoutMs) / 1000),
    };
    this.#renderers = new Renderers(entry, settings.threads + 1, processLimits, () =>
      this.#startNext(),
    );
  }

  /** True when a project's live transform would be refused now, so that its fetch can be skipped. */
  isFull(project: string): boolean {
    return this.#closed || (this.#crowded && !this.#displaces(project) && !this.#isNew(project));
  }

  /** True when threads and queue are in use. */
  get #crowded(): boolean {
    const { threads, queue } = this.#settings;
    return Math.min(this.#running.size, threads) + this.#waiting.size >= threads + queue;
  }

  /** True when a project has so few transforms queued that one of another has to give way. */
  #displaces(project: string): boolean {
    return this.#waiting.most > this.#waiting.of(project) + 1;
  }

  /** True when the additional thread is for this project. */
  #isNew(project: string): boolean {
    const { threads, queue } = this.#settings;
    return (
      this.#running.size <= threads &&
      this.#waiting.size <= queue &&
      this.#waiting.of(project) === 0 &&
      !this.#hasRunning(project)
    );
  }

  #hasRunning(project: string): boolean {
    for (const task of this.#running.keys()) if (task.project === project) return true;
    return false;
  }

  /**
   * @param source copied to the thread, not transferred, because other callers may use it; the same
   *   applies to a watermark
   * @throws ServiceError overloaded, transform_timeout, source_unsupported, source_corrupt,
   *   source_too_large, parameter_invalid, internal_error
   */
  async transform(
    source: Uint8Array,
    variant: Variant,
    { project, signal, background = false, promoted, watermark = null }: TransformOptions,
  ): Promise<Transformed> {
    signal.throwIfAborted();
    if (background ? this.#backgroundFull : this.isFull(project)) {
      this.#rejected += 1;
      throw new ServiceError('overloaded', 'Too many transforms are waiting.');
    }
    if (!background && this.#crowded && this.#displaces(project)) this.#displace();
    let abandon = () => {};
    let promote = () => {};
    try {
      return await new Promise<Transformed>((resolve, reject) => {
        const queuedAt = performance.now();
        const task: QueuedTransform = {
          project,
          cost: null,
          source,
          watermark,
          variant,
          background: background && promoted?.aborted !== true,
          queuedAt,
          abandoned: false,
          deadline: null,
          resolve,
          reject,
        };
        // A running transform continues without its caller: terminating a thread in native code
        // takes as long as the native call, and a new thread has to load all modules. The thread
        // counts as busy until the transform is done.
        abandon = () => {
          task.abandoned = true;
          this.#leaveQueue(task);
          reject(signal.reason);
        };
        promote = () => this.#promote(task);
        signal.addEventListener('abort', abandon, { once: true });
        promoted?.addEventListener('abort', promote, { once: true });
        if (this.#idle) this.#lastProgress = queuedAt;
        (task.background ? this.#waitingBackground : this.#waiting).add(project, task);
        this.#setDeadline(task);
        this.#startNext();
      });
    } finally {
      signal.removeEventListener('abort', abandon);
      promoted?.removeEventListener('abort', promote);
    }
  }

  stats(): TransformQueueStats {
    return {
      active: this.#running.size,
      costlyBytes: this.#costlyBytes,
      costlyMaxBytes: this.#settings.costlyBytes,
      queued: this.#waiting.size,
      backgroundQueued: this.#waitingBackground.size,
      concurrency: this.#settings.threads,
      maxQueue: this.#settings.queue,
      rejected: this.#rejected,
      completed: this.#completed,
      stalledMs: this.#idle ? 0 : Math.round(performance.now() - this.#lastProgress),
      threadsReplaced: this.#renderers.replaced,
    };
  }

  /** Rejects queued and new tasks, waits for running ones (the timeout bounds it), then stops. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of [...this.#waiting, ...this.#waitingBackground]) {
      this.#leaveQueue(task);
      task.reject(new ServiceError('overloaded', 'The service is shutting down.'));
    }
    await Promise.all(this.#running.values());
    await this.#renderers.close();
  }

  get #idle(): boolean {
    return this.#running.size + this.#waiting.size + this.#waitingBackground.size === 0;
  }

  get #backgroundFull(): boolean {
    const bound = backgroundQueueFactor * Math.max(1, this.#settings.queue);
    return this.#closed || this.#waitingBackground.size >= bound;
  }

  #startNext(): void {
    while (this.#renderers.available) {
      const task =
        this.#running.size < this.#settings.threads ? this.#nextByPriority() : this.#nextNew();
      if (task === undefined) return;
      if (task.background || this.#waitingBackground.size === 0) this.#overtaken = 0;
      else this.#overtaken += 1;
      this.#leaveQueue(task);
      this.#running.set(task, this.#run(task));
    }
  }

  /** Live work first, but it overtakes waiting background work only so many times in succession. */
  #nextByPriority(): QueuedTransform | undefined {
    const guaranteed = this.#overtaken >= mostOvertaken ? this.#nextBackground() : undefined;
    return guaranteed ?? this.#waiting.take(this.#affordable()) ?? this.#nextBackground();
  }

  /**
   * Whether a transform fits beside the costly ones that run; one beyond the limit runs when none
   * does. As soon as one does not fit, no other costly one may overtake it.
   */
  #affordable(): (task: QueuedTransform) => boolean {
    let blocked = false;
    return ({ cost }) => {
      if (cost === null) return true;
      const fits =
        this.#costlyBytes === 0 || this.#costlyBytes + cost.bytes <= this.#settings.costlyBytes;
      blocked ||= !fits;
      return !blocked;
    };
  }

  /** For the additional thread, when all others are busy. */
  #nextNew(): QueuedTransform | undefined {
    if (this.#running.size > this.#settings.threads) return undefined;
    return this.#waiting.take(({ cost, project }) => cost === null && !this.#hasRunning(project));
  }

  /** Refuses the last transform of the project with most, in favour of another's. */
  #displace(): void {
    const task = this.#waiting.last();
    if (task === undefined) return;
    this.#leaveQueue(task);
    this.#rejected += 1;
    task.reject(new ServiceError('overloaded', 'Too many transforms are waiting.'));
  }

  /** With more than one thread, one is reserved for live work. */
  #nextBackground(): QueuedTransform | undefined {
    const most = Math.max(1, this.#settings.threads - 1);
    if (this.#backgroundRunning >= most) return undefined;
    return this.#waitingBackground.take(this.#affordable());
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

  /** Queues a transform that was found not to be light again, in its place. */
  #waitAgain(task: QueuedTransform, cost: Cost): void {
    if (task.abandoned) return;
    if (this.#closed)
      return task.reject(new ServiceError('overloaded', 'The service is shutting down.'));
    task.cost = cost;
    (task.background ? this.#waitingBackground : this.#waiting).putBack(
      task.project,
      task,
      (other) => other.queuedAt > task.queuedAt,
    );
    this.#setDeadline(task);
  }

  #leaveQueue(task: QueuedTransform): void {
    this.#waiting.delete(task.project, task);
    this.#waitingBackground.delete(task.project, task);
    if (task.deadline !== null) clearTimeout(task.deadline);
  }

  #promote(task: QueuedTransform): void {
    if (!task.background) return;
    task.background = false;
    if (this.#waitingBackground.delete(task.project, task)) {
      this.#waiting.add(task.project, task);
      this.#setDeadline(task);
    }
    if (this.#running.has(task)) this.#backgroundRunning -= 1;
    this.#startNext();
  }

  async #run(task: QueuedTransform): Promise<void> {
    const { source, watermark, variant } = task;
    const startedAt = performance.now();
    if (task.background) this.#backgroundRunning += 1;
    const { cost } = task;
    this.#costlyBytes += cost?.bytes ?? 0;
    const run = this.#renderers.run({
      source,
      watermark,
      variant,
      limits: this.#limits,
      onlyLight: cost === null,
    });
    let exceeds: Cost | null = null;
    let terminated: Promise<void> | undefined;
    // Starts when the thread receives the task. Only a process's first tasks may find threads
    // starting.
    const timer = setTimeout(() => {
      task.reject(new ServiceError('transform_timeout', 'The transform took too long.'));
      terminated = run.terminate();
    }, this.#settings.transformTimeoutMs);
    try {
      const result = await run.result;
      if ('exceeds' in result) exceeds = result.exceeds;
      else settle(task, result, startedAt - task.queuedAt);
    } catch (error) {
      const unexpected = () =>
        new ServiceError('internal_error', 'The transform ended unexpectedly.', error);
      task.reject(error instanceof ServiceError ? error : unexpected());
    }
    clearTimeout(timer);
    // A thread that is still in native code uses its core, so it counts as busy until it exits.
    await terminated;
    if (task.background) this.#backgroundRunning -= 1;
    this.#running.delete(task);
    this.#costlyBytes -= cost?.bytes ?? 0;
    if (exceeds === null) this.#completed += 1;
    else this.#waitAgain(task, exceeds);
    this.#lastProgress = performance.now();
    this.#startNext();
  }
}

function settle(task: QueuedTransform, result: Finished, queueMs: number): void {
  if (result.ok) {
    const { ok, ...image } = result;
    task.resolve({ ...image, queueMs });
  } else {
    task.reject(ServiceError.fromData(result.error, threadError(result.detail)));
  }
}

/** The thread's error as text, wrapped in an Error because the logger shows only such causes. */
function threadError(detail: string): Error {
  const error = new Error('on a transform thread or process');
  error.stack = detail;
  return error;
}
