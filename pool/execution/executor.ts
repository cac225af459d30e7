import { recognise } from '../formats/source-formats.ts';
import { hasText } from '../variant.ts';
import { EncoderThreads } from './encoder-threads.ts';
import type { ProcessLimits } from './process/launch.ts';
import { type ProcessFonts, ProcessPool } from './process/process-pool.ts';
import type { TransformResult, TransformTask } from './task.ts';
import type { ThreadResult } from './thread.ts';
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
    const ending = new AbortController();
    const drawsText = hasText(task.variant);
    let isolated: Promise<TransformResult> | null = null;
    const isolate = () => {
      // Also for an SVG without a text: its letters must not depend on the other inputs.
      const usesFonts =
        drawsText ||
        [task.source, ...task.layers].some((bytes) => bytes && recognise(bytes)?.drawsLetters);
      const processes = usesFonts ? this.#processesWithFonts : this.#processes;
      isolated = processes.run(task, ending.signal);
      return isolated;
    };
    // A thread finds the cost first, from the header.
    const direct =
      task.onlyLight !== true && (drawsText || recognise(task.source)?.runsIn === 'process');
    const onThread = direct ? null : this.#onThread(task);
    return {
      result: onThread?.result.then((result) => result ?? isolate()) ?? isolate(),
      terminate: async () => {
        // The thread may just have returned the task, which then must not start in a process.
        ending.abort();
        await Promise.allSettled([isolated ?? onThread?.terminate()]);
      },
    };
  }

  #onThread(task: TransformTask): TaskRun<ThreadResult> {
    const ended = this.#encoderThreads.use(task.variant);
    const { result, terminate } = this.#threads.run(task);
    return { result: result.finally(ended), terminate };
  }

  async close(): Promise<void> {
    const pools = [this.#threads, this.#processes, this.#processesWithFonts];
    await Promise.all(pools.map((pool) => pool.close()));
  }
}
