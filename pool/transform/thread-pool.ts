import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { ThreadResult, ThreadTask } from './thread.ts';

/** One task on one thread. */
export interface Run {
  /** Rejects when the thread dies, or was told to. */
  readonly result: Promise<ThreadResult>;
  /**
   * Ends the task's thread, for which a new one starts; resolves when it is gone. That is at once
   * for JavaScript, but only when the call is over for a thread inside native code.
   */
  terminate(): Promise<void>;
}

/** JavaScript's share of a transform is small: pictures are outside of this heap. */
const heapMegabytes = 128;

/**
 * A fixed number of threads, each with one task at a time. The order of tasks that wait is the
 * caller's, which hands one over when a thread is `available`; Piscina's own queue is a fallback.
 */
export class ThreadPool {
  readonly #piscina: Piscina<ThreadTask, ThreadResult>;
  readonly #count: number;
  readonly #running = new Set<AbortController>();
  #closing = false;
  #replaced = 0;

  /** @param onAvailable called when a thread may have become available that was not before */
  constructor(entry: URL, count: number, onAvailable: () => void) {
    this.#count = count;
    this.#piscina = new Piscina({
      filename: entry.href,
      minThreads: count,
      maxThreads: count,
      concurrentTasksPerWorker: 1,
      maxQueue: count,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    this.#piscina.on('workerDestroy', () => {
      if (!this.#closing) this.#replaced += 1;
    });
    // The event comes just before the thread counts as ready.
    this.#piscina.on('workerCreate', () => queueMicrotask(onAvailable));
    this.#piscina.on('error', () => {
      // Says that a thread failed with no task on it. When none is left, the entry itself cannot be
      // loaded, and what was handed over would wait for a thread that never comes.
      if (this.#piscina.threads.length === 0) {
        for (const controller of this.#running) controller.abort();
      }
      onAvailable();
    });
  }

  /**
   * False while all threads are busy or starting, so that the time in which a dead thread's
   * successor starts is not counted as a task's. True where a thread is missing: it is started with
   * the next task.
   */
  get available(): boolean {
    return this.#piscina.idleThreads > 0 || this.#piscina.threads.length < this.#count;
  }

  /** ThreadPool that died or were ended, and were replaced. */
  get replaced(): number {
    return this.#replaced;
  }

  run(task: ThreadTask): Run {
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
      await Promise.all(ended.map((thread) => exit(thread)));
    };
    return { result, terminate };
  }

  /** Ends all threads; tasks that still run are lost. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#piscina.destroy();
  }
}

function exit(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    thread.once('exit', () => resolve());
  });
}
