import { Piscina } from 'piscina';
import { recognise } from '../formats/source-formats.ts';
import type { ExecutionPlan } from '../rendering/execution-plan.ts';
import type { RenderTask } from '../rendering/render.ts';
import { hasText } from '../variant.ts';
import { EncoderThreads } from './encoder-threads.ts';
import type { ProcessFonts, ProcessLimits } from './process/launch.ts';
import { ProcessPool } from './process/process-pool.ts';
import type { TransformResult } from './task.ts';

/**
 * Runs tasks on threads, or in processes if they must be killable. The schedule counts a task in a
 * process as a busy thread, so tasks never use more cores than there are threads.
 */
export class Executor {
  readonly #threads: ThreadPool;
  readonly #processes: ProcessPool;
  readonly #processesWithFonts: ProcessPool;
  readonly #encoderThreads = new EncoderThreads();

  /** @param onAvailable called when a thread might have become available */
  constructor(
    entry: URL,
    count: number,
    limits: ProcessLimits,
    fonts: ProcessFonts,
    onAvailable: () => void,
  ) {
    this.#threads = new ThreadPool(entry, count, onAvailable);
    this.#processes = new ProcessPool(limits);
    this.#processesWithFonts = new ProcessPool(limits, fonts);
  }

  get available(): boolean {
    return this.#threads.available;
  }

  /** Total threads replaced after an exit or termination. */
  get replaced(): number {
    return this.#threads.replaced;
  }

  run(task: RenderTask): TaskRun<TransformResult> {
    if (task.execution?.isolated) return this.#inProcess(task);
    let isTerminated = false;
    const onThread = this.#onThread(task);
    let inProcess: TaskRun<TransformResult> | null = null;
    const result = onThread.result.then((placed) => {
      if (!isLightInProcess(placed)) return placed;
      if (isTerminated) throw new Error('terminated between thread and process');
      inProcess = this.#inProcess({ ...task, execution: placed.execution });
      return inProcess.result;
    });
    return {
      result,
      terminate: () => {
        isTerminated = true;
        return (inProcess ?? onThread).terminate();
      },
    };
  }

  #inProcess(task: RenderTask): TaskRun<TransformResult> {
    const ending = new AbortController();
    // Includes SVGs without text, whose letters must not depend on the other inputs.
    const usesFonts =
      hasText(task.variant) ||
      [task.source, ...task.layers].some((bytes) => bytes && recognise(bytes)?.drawsLetters);
    const processes = usesFonts ? this.#processesWithFonts : this.#processes;
    const result = processes.run(task, ending.signal);
    return {
      result,
      terminate: async () => {
        ending.abort();
        await Promise.allSettled([result]);
      },
    };
  }

  #onThread(task: RenderTask): TaskRun<TransformResult> {
    const ended = this.#encoderThreads.use(task.variant);
    const { result, terminate } = this.#threads.run(task);
    return { result: result.finally(ended), terminate };
  }

  async close(): Promise<void> {
    const pools = [this.#threads, this.#processes, this.#processesWithFonts];
    await Promise.all(pools.map((pool) => pool.close()));
  }
}

/** Returns whether a thread placed a light transform in a process: it does not wait again. */
const isLightInProcess = (
  result: TransformResult,
): result is Extract<TransformResult, { execution: ExecutionPlan }> =>
  'execution' in result && result.execution.isolated && result.execution.cost === null;

/** One task on one thread, or in one process. */
interface TaskRun<Result> {
  /** Rejects when the thread or process exits or is terminated. */
  readonly result: Promise<Result>;
  /**
   * Terminates and replaces the task's thread or process; resolves after its exit. A process dies
   * immediately; a thread in native code exits only after the native call returns.
   */
  terminate(): Promise<void>;
}

/**
 * JavaScript heap per thread; small, because pixels are outside the heap. Node collects a young
 * generation with 3 MB instead of 48 MB before unreachable pixel buffers accumulate.
 */
const heap = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 3 };

/**
 * A limited number of threads with one task each. The caller queues tasks, and calls `run` when a
 * thread is `available`; Piscina's own queue is a fallback.
 */
class ThreadPool {
  readonly #piscina: Piscina<RenderTask, TransformResult>;
  readonly #count: number;
  readonly #running = new Set<AbortController>();
  #closing = false;
  /** Total threads replaced after an exit or termination. */
  replaced = 0;

  /** @param onAvailable called when a thread might have become available */
  constructor(entry: URL, count: number, onAvailable: () => void) {
    this.#count = count;
    this.#piscina = new Piscina({
      filename: entry.href,
      // Other threads start when tasks need them, and stay.
      minThreads: 1,
      maxThreads: count,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: 1,
      maxQueue: count,
      recordTiming: false,
      // Threads do not preload this process's modules, which cost start-up time and memory.
      // TypeScript sources need the loader. Piscina first requires its module, and Node 20 and 24
      // abort if a thread is terminated while it requires an ES module; this option makes Piscina
      // import it.
      ...(entry.pathname.endsWith('.ts') ? {} : { execArgv: ['--no-experimental-require-module'] }),
      resourceLimits: heap,
      // Without this variable, sharp limits the whole process to one libvips thread when a thread
      // loads it.
      env: { MALLOC_ARENA_MAX: '2', ...process.env },
    });
    this.#piscina.on('workerDestroy', () => {
      if (!this.#closing) this.replaced += 1;
    });
    // Piscina emits the event just before the thread counts as ready.
    this.#piscina.on('workerCreate', () => queueMicrotask(onAvailable));
    this.#piscina.on('error', () => {
      // A thread failed outside a task. If no thread is left, the entry file cannot be loaded, and
      // tasks in Piscina's queue would wait forever.
      if (this.#piscina.threads.length === 0)
        for (const controller of this.#running) controller.abort();
      onAvailable();
    });
  }

  /**
   * False while all threads are busy or starting, so that a replacement's start does not count
   * against a task's timeout. True if a thread is missing, because the next task starts it.
   */
  get available(): boolean {
    return this.#piscina.idleThreads > 0 || this.#piscina.threads.length < this.#count;
  }

  run(task: RenderTask): TaskRun<TransformResult> {
    const controller = new AbortController();
    this.#running.add(controller);
    const result = this.#piscina
      .run(task, { signal: controller.signal })
      .finally(() => this.#running.delete(controller));
    const terminate = async () => {
      const before = this.#piscina.threads;
      controller.abort();
      const after = new Set(this.#piscina.threads);
      const ended = before.filter((thread) => !after.has(thread));
      await Promise.all(ended.map((thread) => new Promise((exit) => thread.once('exit', exit))));
    };
    return { result, terminate };
  }

  /** Terminates all threads, and with them running tasks. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#piscina.destroy();
  }
}
