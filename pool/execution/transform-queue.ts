import { ServiceError } from '../../contract/errors.ts';
import { programUrl } from '../../contract/package.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { transformTimeout } from '../formats/errors.ts';
import type { Input } from '../inputs.ts';
import type { ImageRequest, Miss } from '../miss.ts';
import { shuttingDown, tooManyTransforms } from '../overloaded.ts';
import type { ExecutionPlan } from '../rendering/execution-plan.ts';
import type { RenderedImage, RenderTask } from '../rendering/render.ts';
import type { SourceLease } from '../source/sources.ts';
import { noObserver, type Stage } from '../stages.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { Executor } from './executor.ts';
import type { SchedulingKey } from './heavy-transform-scheduler.ts';
import { RunningTime } from './running-time.ts';
import { Schedule } from './schedule.ts';
import type { TransformResult } from './task.ts';

/** The bytes of an image's inputs, in order. */
type Leases = readonly [
  source: Pick<SourceLease, 'bytes' | 'hold'>,
  ...ofLayers: Pick<SourceLease, 'bytes' | 'hold'>[],
];

/** A miss, or the check of a layer. */
interface TransformedMiss extends Pick<Miss, 'signal' | 'urgency' | 'timings'> {
  readonly request: Pick<ImageRequest, 'project' | 'variant' | 'background' | 'stages'> & {
    readonly inputs: readonly Pick<Input, 'layer'>[];
  };
}

export type TransformSettings = Pick<
  Settings,
  | 'poolThreads'
  | 'poolQueue'
  | 'poolMemoryBytes'
  | 'sourceMaxPixels'
  | 'transformTimeoutMs'
  | 'svgTimeoutMs'
  | 'transformProcessMemoryBytes'
  | 'fonts'
>;

/**
 * A terminated thread counts as stuck after this time. A thread that runs JavaScript ends within
 * milliseconds.
 */
const stuckAfterMs = 1_000;

type Finished = Exclude<TransformResult, { execution: ExecutionPlan }>;

interface QueuedMiss extends SchedulingKey {
  readonly miss: TransformedMiss;
  readonly leases: Leases;
  /** Rejects the task when it waits too long. */
  deadline: NodeJS.Timeout | undefined;
  readonly resolve: (rendered: RenderedImage) => void;
  readonly reject: (reason: unknown) => void;
}

/** Maximum time in the queue. Background work can wait longer, because no client waits for it. */
export interface WaitLimits {
  readonly liveMs: number;
  readonly backgroundMs: number;
}

const defaultWaitLimits = (transformTimeoutMs: number): WaitLimits => ({
  liveMs: 2 * transformTimeoutMs,
  backgroundMs: 10 * transformTimeoutMs,
});

/**
 * CPU limit of a transform process, in multiples of the timeout. It matters only if this process is
 * stopped.
 */
const cpuTimeouts = 6;

const defaultEntry = programUrl('pool/execution/thread');

/**
 * Runs transforms on threads, in {@link Schedule} order. A thread first places each transform
 * (`execution-plan.ts`) and runs it immediately if it is light; a heavy transform waits for its
 * turn and then runs where it was placed.
 */
export class TransformQueue {
  readonly #settings: TransformSettings;
  readonly #limits: RenderTask['limits'];
  readonly #waitLimits: WaitLimits;
  readonly #executor: Executor;
  readonly #schedule: Schedule<QueuedMiss>;
  readonly #runs = new Set<Promise<void>>();
  /** Transforms whose threads are being terminated, with the start time. */
  readonly #ending = new Map<QueuedMiss, number>();
  #rejected = 0;
  #completed = 0;
  readonly #time = new RunningTime();
  /** When a transform last ended, or the first one was queued, by `#time`. */
  #lastProgress = 0;
  #closed = false;

  constructor(
    settings: TransformSettings,
    entry: URL = defaultEntry,
    waitLimits = defaultWaitLimits(settings.transformTimeoutMs),
  ) {
    this.#settings = settings;
    this.#waitLimits = waitLimits;
    this.#schedule = new Schedule(settings);
    this.#limits = {
      sourceMaxPixels: settings.sourceMaxPixels,
      // libvips accepts whole seconds only. Shorter than the hard timeout if possible, because the
      // soft timeout keeps the thread; otherwise it still ends a terminated thread's native call.
      softTimeoutSeconds: Math.max(1, Math.ceil(settings.transformTimeoutMs / 1000) - 1),
      svgTimeoutMs: settings.svgTimeoutMs,
      processMemoryBytes: settings.transformProcessMemoryBytes,
    };
    const processLimits = {
      memoryBytes: settings.transformProcessMemoryBytes,
      cpuSeconds: Math.ceil((cpuTimeouts * settings.transformTimeoutMs) / 1000),
    };
    const onAvailable = () => this.#startNext();
    this.#executor = new Executor(
      entry,
      settings.poolThreads + 1,
      processLimits,
      { added: settings.fonts },
      onAvailable,
    );
  }

  /**
   * Returns whether a project's live transform will be refused, so that its fetch can be skipped.
   */
  isFull(project: string): boolean {
    return this.#closed || this.#schedule.willBeFull(project);
  }

  /**
   * Reserves a place for a live transform whose source is being fetched, until the returned
   * function is called.
   */
  reserve(project: string): () => void {
    return this.#schedule.reserve(project);
  }

  /**
   * Renders a miss's image, and sets its timings. If its signal aborts, the promise immediately
   * rejects with the reason.
   *
   * @param leases unchanged, and copied to the thread unless their memory is shared; held while a
   *   thread reads them, possibly after the promise has settled
   * @throws ServiceError overloaded, transform_timeout, source_unsupported, source_corrupt,
   *   source_too_large, parameter_invalid, internal_error
   */
  async transform(miss: TransformedMiss, leases: Leases): Promise<RenderedImage> {
    const { request, signal, urgency } = miss;
    const { project, background } = request;
    signal.throwIfAborted();
    const { isBackgroundFull } = this.#schedule;
    if (this.#closed || (background ? isBackgroundFull : this.#schedule.isFull(project))) {
      this.#rejected += 1;
      throw tooManyTransforms;
    }
    const displaced = background ? undefined : this.#schedule.displacedBy(project);
    if (displaced !== undefined) this.#refuse(displaced, tooManyTransforms);
    let abandon = () => {};
    let ignorePromotion = () => {};
    try {
      const rendered = new Promise<RenderedImage>((resolve, reject) => {
        const task: QueuedMiss = {
          miss,
          leases,
          project,
          execution: null,
          background: background && !urgency.isLive,
          queuedAt: performance.now(),
          deadline: undefined,
          resolve,
          reject,
        };
        // A running transform continues: terminating a thread in native code takes as long as the
        // native call, and a new thread has to load all modules.
        abandon = () => this.#leaveQueue(task);
        ignorePromotion = urgency.onPromotion(() => this.#promote(task));
        if (this.#schedule.idle) this.#lastProgress = this.#time.ms;
        this.#schedule.add(task);
        this.#setDeadline(task);
        this.#startNext();
      });
      return await unlessAborted(rendered, signal, abandon);
    } finally {
      ignorePromotion();
    }
  }

  stats() {
    return {
      /** Busy threads, including threads whose callers have aborted. */
      active: this.#schedule.running,
      /** Estimated memory of the running costly transforms, and its limit, in bytes. */
      costlyBytes: this.#schedule.costlyBytes,
      costlyMaxBytes: this.#settings.poolMemoryBytes,
      queued: this.#schedule.liveWaiting,
      backgroundQueued: this.#schedule.backgroundWaiting,
      concurrency: this.#settings.poolThreads,
      maxQueue: this.#settings.poolQueue,
      /** Total refused as `overloaded`. */
      rejected: this.#rejected,
      /** Total that ended, successfully or not. */
      completed: this.#completed,
      /**
       * Threads still in native code a second after their termination, including the additional
       * thread.
       */
      stuck: this.#stuck,
      /**
       * While transforms are queued or running, ms since a transform last ended, not counting time
       * in which this process did not run; otherwise 0. While `concurrency` threads are stuck,
       * transforms on the additional thread do not count.
       */
      stalledMs: this.#schedule.idle ? 0 : Math.round(this.#time.ms - this.#lastProgress),
      threadsReplaced: this.#executor.replaced,
    };
  }

  /** Rejects queued and new tasks, and waits for running ones, which the timeout limits. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of [...this.#schedule.waiting()]) {
      this.#leaveQueue(task);
      task.reject(shuttingDown);
    }
    await Promise.all(this.#runs);
    await this.#executor.close();
  }

  get #stuck(): number {
    const before = performance.now() - stuckAfterMs;
    return [...this.#ending.values()].filter((since) => since <= before).length;
  }

  #startNext(): void {
    while (this.#executor.available) {
      const task = this.#schedule.start();
      if (task === undefined) return;
      clearTimeout(task.deadline);
      const run = this.#run(task).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    }
  }

  #refuse(task: QueuedMiss, error: ServiceError): void {
    this.#leaveQueue(task);
    this.#rejected += 1;
    task.miss.request.stages.begin('queue', {}, task.queuedAt).fail(error);
    task.reject(error);
  }

  #setDeadline(task: QueuedMiss): void {
    clearTimeout(task.deadline);
    const { liveMs, backgroundMs } = this.#waitLimits;
    const refuse = () => {
      const text = 'The transform waited too long for a thread.';
      this.#refuse(task, new ServiceError('overloaded', text));
    };
    task.deadline = setTimeout(refuse, task.background ? backgroundMs : liveMs);
  }

  /** Queues a transform that is not light, or needs more memory. */
  #requeue(task: QueuedMiss, execution: ExecutionPlan): void {
    if (task.miss.signal.aborted) return;
    if (this.#closed) return task.reject(shuttingDown);
    task.execution = execution;
    this.#schedule.add(task);
    this.#setDeadline(task);
  }

  #leaveQueue(task: QueuedMiss): void {
    this.#schedule.remove(task);
    clearTimeout(task.deadline);
  }

  #promote(task: QueuedMiss): void {
    if (!task.background) return;
    if (this.#schedule.promote(task)) this.#setDeadline(task);
    this.#startNext();
  }

  async #run(task: QueuedMiss): Promise<void> {
    const { miss, queuedAt } = task;
    const { stages } = miss.request;
    const holds = task.leases.map((lease) => lease.hold());
    const startedAt = performance.now();
    const run = this.#executor.run(createMessage(task, this.#limits));
    let waiting: ExecutionPlan | null = null;
    let terminated: Promise<void> | undefined;
    let stage: Stage | null = null;
    // Called once the transform is certain not to be queued again.
    const beginTransformStage = (): Stage => {
      if (stage !== null) return noObserver.begin('transform');
      stages.begin('queue', {}, queuedAt).end({}, startedAt);
      stage = stages.begin('transform', {}, startedAt);
      return stage;
    };
    const timer = setTimeout(() => {
      const error = transformTimeout();
      beginTransformStage().fail(error);
      task.reject(error);
      this.#ending.set(task, performance.now());
      terminated = run.terminate();
    }, this.#settings.transformTimeoutMs);
    try {
      const result = await run.result;
      if ('execution' in result) waiting = result.execution;
      else {
        miss.timings.queue = startedAt - queuedAt;
        settle(task, result, beginTransformStage());
      }
    } catch (thrown) {
      const unexpected = () =>
        new ServiceError('internal_error', 'The transform ended unexpectedly.', thrown);
      const error = thrown instanceof ServiceError ? thrown : unexpected();
      beginTransformStage().fail(error);
      task.reject(error);
    }
    clearTimeout(timer);
    // A thread that is still in native code uses its core, so it counts as busy until it exits.
    await terminated;
    this.#ending.delete(task);
    for (const release of holds) release();
    this.#schedule.ended(task);
    if (waiting === null) this.#completed += 1;
    // After a timeout, the caller has released the source's bytes.
    else if (terminated === undefined) this.#requeue(task, waiting);
    if (this.#stuck < this.#settings.poolThreads) this.#lastProgress = this.#time.ms;
    this.#startNext();
  }
}

/** Creates the message to a thread or process, which can be cloned. */
function createMessage(
  { miss, leases, execution }: QueuedMiss,
  limits: RenderTask['limits'],
): RenderTask {
  const { variant, inputs } = miss.request;
  const layers = (variant.layers ?? []).map(
    (_, layer) => leases[inputs.findIndex((input) => input.layer === layer)]?.bytes ?? null,
  );
  return { source: leases[0].bytes, layers, variant, limits, execution };
}

function settle({ miss, resolve, reject }: QueuedMiss, result: Finished, stage: Stage): void {
  if (result.ok) {
    const { ok, transformMs, ...image } = result;
    const { contentType, width, height, body } = image;
    const format = miss.request.variant.placeholder ?? contentType.replace('image/', '');
    stage.end({ format, width, height, bytes: body.byteLength });
    miss.timings.transform = transformMs;
    resolve(image);
  } else {
    const error = ServiceError.fromData(result.error, threadError(result.detail));
    stage.fail(error);
    reject(error);
  }
}

/**
 * Returns the thread's error as text, wrapped in an Error because the logger shows only such
 * causes.
 */
function threadError(detail: string): Error {
  const error = new Error('on a transform thread or process');
  error.stack = detail;
  return error;
}
