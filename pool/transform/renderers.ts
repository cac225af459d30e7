import type { ProcessLimits } from './process/launch.ts';
import { ProcessPool } from './process/process-pool.ts';
import type { TransformResult, TransformTask } from './task.ts';
import { type Run, ThreadPool } from './thread-pool.ts';

/**
 * Runs tasks on threads; a task that a thread refuses because it must be killable is run in a
 * process instead, while its thread stays idle, so that no more cores are in use than threads.
 */
export class Renderers {
  readonly processes: ProcessPool;
  readonly #threads: ThreadPool;

  /** @param onAvailable called when a thread may have become available */
  constructor(entry: URL, count: number, limits: ProcessLimits, onAvailable: () => void) {
    this.#threads = new ThreadPool(entry, count, onAvailable);
    this.processes = new ProcessPool(limits);
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
    const first = this.#threads.run(task);
    let inProcess: Promise<unknown> | null = null;
    const result = first.result.then((made) => {
      if (made !== null) return made;
      const isolated = this.processes.run(task, ending.signal);
      inProcess = isolated;
      return isolated;
    });
    const terminate = async () => {
      ending.abort();
      if (inProcess === null) await first.terminate();
      else await Promise.allSettled([inProcess]);
    };
    return { result, terminate };
  }

  async close(): Promise<void> {
    await Promise.all([this.#threads.close(), this.processes.close()]);
  }
}
