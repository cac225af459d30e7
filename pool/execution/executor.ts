import { needsProcess } from '../formats/isolation.ts';
import type { ProcessLimits } from './process/launch.ts';
import { ProcessPool } from './process/process-pool.ts';
import type { TransformResult, TransformTask } from './task.ts';
import { type Run, ThreadPool } from './thread-pool.ts';

/**
 * Runs tasks on threads, or in processes where they must be killable. A task in a process stands for
 * one on a thread, which stays idle, so that no more cores are in use than threads.
 */
export class Executor {
  readonly #threads: ThreadPool;
  readonly #processes: ProcessPool;

  /** @param onAvailable called when a thread may have become available */
  constructor(entry: URL, count: number, limits: ProcessLimits, onAvailable: () => void) {
    this.#threads = new ThreadPool(entry, count, onAvailable);
    this.#processes = new ProcessPool(limits);
  }

  get available(): boolean {
    return this.#threads.available;
  }

  /** Total threads that exited or were terminated, and were replaced. */
  get replaced(): number {
    return this.#threads.replaced;
  }

  run(task: TransformTask): Run<TransformResult> {
    const ending = new AbortController();
    let isolated: Promise<TransformResult> | null = null;
    const isolate = () => {
      isolated = this.#processes.run(task, ending.signal);
      return isolated;
    };
    // A thread tells the cost of such a source, if by its header alone.
    if (task.onlyLight !== true && needsProcess(task.source)) {
      return { result: isolate(), terminate: () => abort(ending, isolated) };
    }
    const first = this.#threads.run(task);
    return {
      result: first.result.then((result) => result ?? isolate()),
      terminate: async () => {
        // A thread may just have refused the task, which then must not start in a process.
        await Promise.all([abort(ending, isolated), isolated === null ? first.terminate() : null]);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#threads.close(), this.#processes.close()]);
  }
}

async function abort(ending: AbortController, run: Promise<unknown> | null): Promise<void> {
  ending.abort();
  await Promise.allSettled([run]);
}
