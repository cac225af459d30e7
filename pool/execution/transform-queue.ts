import { extname } from 'node:path';
import { ServiceError } from '../../contract/errors.ts';
import type { Image } from '../image.ts';
import type { Cost } from '../rendering/cost.ts';
import type { EngineSettings } from '../settings.ts';
import { noObserver, type Stage, type StageObserver } from '../stages.ts';
import type { Variant } from '../variant.ts';
import { Executor } from './executor.ts';
import { Schedule, type Scheduled } from './schedule.ts';
import type { TransformResult, TransformTask } from './task.ts';

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
  /**
   * Called when a thread begins to read the source and the watermark. It may go on after the promise is
   * settled; the returned function is called when it has ended.
   */
  readonly hold?: () => () => void;
  /** Told how long the transform waited and ran. */
  readonly stages?: StageObserver;
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
   * Threads that were told to end a second ago or longer, and are still in native code. Their number
   * includes the additional one.
   */
  readonly stuck: number;
  /**
   * ms since a transform last ended, while some are queued or running, else 0: shows a stuck pool. While as
   * many threads are stuck as `concurrency`, what the additional one ends does not count.
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

/** A thread that runs JavaScript ends within milliseconds. */
const stuckAfterMs = 1_000;

/** For bytes that stay as they are. */
const noHold = () => () => {};

type Finished = Exclude<TransformResult, { exceeds: Cost }>;

interface QueuedTransform extends Scheduled {
  readonly source: Uint8Array;
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  readonly stages: StageObserver;
  readonly hold: () => () => void;
  /** True when its caller has left, or was told that the transform took too long. */
  abandoned: boolean;
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

/**
 * Limit of CPU time of a transform process, as a multiple of the timeout. The timeout ends it much
 * earlier, unless this process is stopped.
 */
const cpuTimeouts = 6;

const defaultEntry = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Runs transforms on threads, in the order of {@link Schedule}. Whether a transform is light is found
 * by the thread that would do it: one that is not waits again, with its cost.
 */
export class TransformQueue {
  readonly #settings: TransformQueueSettings;
  readonly #limits: TransformTask['limits'];
  readonly #waitLimits: WaitLimits;
  readonly #renderers: Executor;
  readonly #schedule: Schedule<QueuedTransform>;
  readonly #runs = new Set<Promise<void>>();
  /** Transforms whose threads were told to end and have not, and when. */
  readonly #ending = new Map<QueuedTransform, number>();
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
    this.#schedule = new Schedule(settings);
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
    this.#renderers = new Executor(entry, settings.threads + 1, processLimits, () =>
      this.#startNext(),
    );
  }

  /** True when a project's live transform will be refused, so that its fetch can be skipped. */
  isFull(project: string): boolean {
    return this.#closed || this.#schedule.willBeFull(project);
  }

  /**
   * Announces a live transform whose source is being fetched, so that not more are fetched than have a
   * place. The function takes it back.
   */
  reserve(project: string): () => void {
    return this.#schedule.reserve(project);
  }

  /**
   * @param source not changed, and copied to the thread unless its memory is shared; the same applies to a
   *   watermark
   * @throws ServiceError overloaded, transform_timeout, source_unsupported, source_corrupt,
   *   source_too_large, parameter_invalid, internal_error
   */
  async transform(
    source: Uint8Array,
    variant: Variant,
    options: TransformOptions,
  ): Promise<Transformed> {
    const { project, signal, background = false, promoted, watermark = null } = options;
    signal.throwIfAborted();
    if (this.#closed || (background ? this.#isBackgroundFull : this.#schedule.isFull(project))) {
      this.#rejected += 1;
      throw new ServiceError('overloaded', 'Too many transforms are waiting.');
    }
    const displaced = background ? undefined : this.#schedule.displacedBy(project);
    if (displaced !== undefined) this.#refuse(displaced, 'Too many transforms are waiting.');
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
          stages: options.stages ?? noObserver,
          hold: options.hold ?? noHold,
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
        if (!promoted?.aborted) promoted?.addEventListener('abort', promote, { once: true });
        if (this.#schedule.idle) this.#lastProgress = queuedAt;
        this.#schedule.add(task);
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
      active: this.#schedule.running,
      costlyBytes: this.#schedule.costlyBytes,
      costlyMaxBytes: this.#settings.costlyBytes,
      queued: this.#schedule.liveWaiting,
      backgroundQueued: this.#schedule.backgroundWaiting,
      concurrency: this.#settings.threads,
      maxQueue: this.#settings.queue,
      rejected: this.#rejected,
      completed: this.#completed,
      stuck: this.#stuck,
      stalledMs: this.#schedule.idle ? 0 : Math.round(performance.now() - this.#lastProgress),
      threadsReplaced: this.#renderers.replaced,
    };
  }

  /** Rejects queued and new tasks, waits for running ones (the timeout bounds it), then stops. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of [...this.#schedule.waiting()]) {
      this.#leaveQueue(task);
      task.reject(new ServiceError('overloaded', 'The service is shutting down.'));
    }
    await Promise.all(this.#runs);
    await this.#renderers.close();
  }

  get #stuck(): number {
    const before = performance.now() - stuckAfterMs;
    let stuck = 0;
    for (const since of this.#ending.values()) if (since <= before) stuck += 1;
    return stuck;
  }

  get #isBackgroundFull(): boolean {
    return this.#closed || this.#schedule.isBackgroundFull;
  }

  #startNext(): void {
    while (this.#renderers.available) {
      const task = this.#schedule.start();
      if (task === undefined) return;
      if (task.deadline !== null) clearTimeout(task.deadline);
      const run = this.#run(task).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    }
  }

  #refuse(task: QueuedTransform, message: string): void {
    this.#leaveQueue(task);
    this.#rejected += 1;
    const error = new ServiceError('overloaded', message);
    task.stages.begin('queue', {}, task.queuedAt).fail(error);
    task.reject(error);
  }

  #setDeadline(task: QueuedTransform): void {
    if (task.deadline !== null) clearTimeout(task.deadline);
    const { liveMs, backgroundMs } = this.#waitLimits;
    task.deadline = setTimeout(
      () => this.#refuse(task, 'The transform waited too long for a thread.'),
      task.background ? backgroundMs : liveMs,
    );
  }

  /** Queues a transform that was found not to be light again, in its place. */
  #waitAgain(task: QueuedTransform, cost: Cost): void {
    if (task.abandoned) return;
    if (this.#closed)
      return task.reject(new ServiceError('overloaded', 'The service is shutting down.'));
    task.cost = cost;
    this.#schedule.addAgain(task);
    this.#setDeadline(task);
  }

  #leaveQueue(task: QueuedTransform): void {
    this.#schedule.remove(task);
    if (task.deadline !== null) clearTimeout(task.deadline);
  }

  #promote(task: QueuedTransform): void {
    if (!task.background) return;
    if (this.#schedule.promote(task)) this.#setDeadline(task);
    this.#startNext();
  }

  async #run(task: QueuedTransform): Promise<void> {
    const { source, watermark, variant } = task;
    const release = task.hold();
    const startedAt = performance.now();
    const run = this.#renderers.run({
      source,
      watermark,
      variant,
      limits: this.#limits,
      onlyLight: task.cost === null,
    });
    let exceeds: Cost | null = null;
    let terminated: Promise<void> | undefined;
    let stage: Stage | null = null;
    // Not before it is known whether the thread does the transform or returns it to the queue.
    const ran = (): Stage => {
      if (stage !== null) return noObserver.begin('transform');
      task.stages.begin('queue', {}, task.queuedAt).end({}, startedAt);
      stage = task.stages.begin('transform', {}, startedAt);
      return stage;
    };
    // Starts when the thread receives the task. Only a process's first tasks may find threads
    // starting.
    const timer = setTimeout(() => {
      const error = new ServiceError('transform_timeout', 'The transform took too long.');
      ran().fail(error);
      task.reject(error);
      // Its bytes are no longer its caller's to lend: it must not wait again.
      task.abandoned = true;
      this.#ending.set(task, performance.now());
      terminated = run.terminate();
    }, this.#settings.transformTimeoutMs);
    try {
      const result = await run.result;
      if ('exceeds' in result) exceeds = result.exceeds;
      else settle(task, result, startedAt - task.queuedAt, ran());
    } catch (thrown) {
      const unexpected = () =>
        new ServiceError('internal_error', 'The transform ended unexpectedly.', thrown);
      const error = thrown instanceof ServiceError ? thrown : unexpected();
      ran().fail(error);
      task.reject(error);
    }
    clearTimeout(timer);
    // A thread that is still in native code uses its core, so it counts as busy until it exits.
    await terminated;
    this.#ending.delete(task);
    release();
    this.#schedule.ended(task);
    if (exceeds === null) this.#completed += 1;
    else this.#waitAgain(task, exceeds);
    if (this.#stuck < this.#settings.threads) this.#lastProgress = performance.now();
    this.#startNext();
  }
}

function settle(task: QueuedTransform, result: Finished, queueMs: number, stage: Stage): void {
  if (result.ok) {
    const { ok, ...image } = result;
    const { contentType, width, height, body } = image;
    const format = task.variant.placeholder ?? contentType.replace('image/', '');
    stage.end({ format, width, height, bytes: body.byteLength });
    task.resolve({ ...image, queueMs });
  } else {
    const error = ServiceError.fromData(result.error, threadError(result.detail));
    stage.fail(error);
    task.reject(error);
  }
}

/** The thread's error as text, wrapped in an Error because the logger shows only such causes. */
function threadError(detail: string): Error {
  const error = new Error('on a transform thread or process');
  error.stack = detail;
  return error;
}
