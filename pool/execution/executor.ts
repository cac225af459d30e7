import { recognise } from '../formats/source-formats.ts';
import type { Placement } from '../rendering/placement.ts';
import { hasText } from '../variant.ts';
import { EncoderThreads } from './encoder-threads.ts';
import type { ProcessLimits } from './process/launch.ts';
import { type ProcessFonts, ProcessPool } from './process/process-pool.ts';
import type { TransformResult, TransformTask } from './task.ts';
import { type TaskRun, ThreadPool } from './thread-pool.ts';

/**
 * Runs tasks on threads, or in processes where they must be killable. While a task runs in a process, one
 * thread stays idle, so that no more cores are in use than threads.
 */
export class Executor {
  readonly #threads: ThreadPool;
  readonly #processes: ProcessPool;
  readonly #processesWithFonts: ProcessPool;
  readonly #encoderThreads = new EncoderThreads();

  /** @param onAvailable called when a thread may have become available */
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

  /** Total threads that exited or were terminated, and were replaced. */
  get replaced(): number {
    return this.#threads.replaced;
  }

  run(task: TransformTask): TaskRun<TransformResult> {
    if (task.placement?.isolated) return this.#inProcess(task);
    const ending = new AbortController();
    const onThread = this.#onThread(task);
    let inProcess: TaskRun<TransformResult> | null = null;
    const result = onThread.result.then((placed) => {
      if (!isLightInProcess(placed)) return placed;
      // It may have been terminated just now.
      ending.signal.throwIfAborted();
      inProcess = this.#inProcess({ ...task, placement: placed.placement });
      return inProcess.result;
    });
    return {
      result,
      terminate: () => {
        ending.abort();
        return (inProcess ?? onThread).terminate();
      },
    };
  }

  #inProcess(task: TransformTask): TaskRun<TransformResult> {
    const ending = new AbortController();
    // Also for an SVG without a text: its letters must not depend on the other inputs.
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

  #onThread(task: TransformTask): TaskRun<TransformResult> {
    const ended = this.#encoderThreads.use(task.variant);
    const { result, terminate } = this.#threads.run(task);
    return { result: result.finally(ended), terminate };
  }

  async close(): Promise<void> {
    const pools = [this.#threads, this.#processes, this.#processesWithFonts];
    await Promise.all(pools.map((pool) => pool.close()));
  }
}

/** True for a light transform that a thread has placed in a process: it does not wait again. */
const isLightInProcess = (
  result: TransformResult,
): result is Extract<TransformResult, { placement: Placement }> =>
  'placement' in result && result.placement.isolated && result.placement.cost === null;
