import { extname } from 'node:path';
import type { TransformResult, TransformTask } from '../task.ts';
import { launch, type ProcessLimits } from './launch.ts';
import { TransformProcess } from './transform-process.ts';

const addressSpaceWarning =
  'The transform processes cannot start with a limit of their address space, so only their resident memory is limited.';

/** An idle process, with sharp loaded, has 60 to 75 MB. */
const idleMs = 60_000;

/** A start takes 0.3 s on an idle machine. */
const startWithinMs = 30_000;

const defaultEntry = new URL(`./main${extname(import.meta.url)}`, import.meta.url);

/**
 * The processes for transforms that must be killable. They are started when they are needed, and
 * kept for the next transform until they were idle for a minute. The caller bounds their number by
 * the number of its tasks.
 */
export class ProcessPool {
  readonly #limits: ProcessLimits;
  readonly #entry: URL;
  readonly #all = new Set<TransformProcess>();
  /** The one used last is at the end, so that those that are not needed stay idle. */
  readonly #idle = new Map<TransformProcess, NodeJS.Timeout>();
  #addressSpaceLimited = true;
  #closing = false;

  constructor(limits: ProcessLimits, entry = defaultEntry) {
    this.#limits = limits;
    this.#entry = entry;
  }

  /**
   * @param signal ends the task's process when it aborts; the promise then rejects when it has ended
   * @throws ServiceError source_too_large, source_corrupt, transform_timeout, internal_error
   */
  async run(task: TransformTask, signal: AbortSignal): Promise<TransformResult> {
    const used = await this.#take(signal);
    try {
      return await abortable(used, signal, () => used.run(task));
    } finally {
      if (used.spent) this.#replace(used);
      else this.#keep(used);
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#all].map((one) => one.kill()));
  }

  /** An idle process, or a new one, when it is ready. */
  async #take(signal: AbortSignal): Promise<TransformProcess> {
    signal.throwIfAborted();
    const kept = [...this.#idle.keys()].at(-1);
    if (kept !== undefined) this.#unkeep(kept);
    let failed: unknown;
    // A process that ends before it has a task was killed, or this Node reserves more address space
    // than the limit.
    for (const limited of [true, true, false]) {
      const taken = failed === undefined && kept ? kept : this.#start(limited);
      try {
        await unlessAborted(taken.ready, signal);
        if (!limited) this.#omitAddressSpaceLimit();
        return taken;
      } catch (error) {
        // On a busy machine the start may take longer than a timeout; the next task continues it.
        if (signal.aborted && !taken.spent) this.#keep(taken);
        if (signal.aborted || this.#closing) throw error;
        failed = error;
      }
    }
    throw failed;
  }

  #omitAddressSpaceLimit(): void {
    if (this.#addressSpaceLimited) process.emitWarning(addressSpaceWarning);
    this.#addressSpaceLimited = false;
  }

  #start(limited: boolean): TransformProcess {
    const child = launch(this.#entry, this.#limits, limited && this.#addressSpaceLimited);
    const started = new TransformProcess(child);
    this.#all.add(started);
    const timer = setTimeout(() => void started.kill(), startWithinMs).unref();
    started.ready.finally(() => clearTimeout(timer)).catch(() => {});
    void started.ended.then(() => {
      this.#all.delete(started);
      this.#unkeep(started);
    });
    return started;
  }

  /** Starts the successor now, so that the next task does not have to wait for it. */
  #replace(used: TransformProcess): void {
    void used.kill();
    if (!this.#closing && this.#idle.size === 0) this.#keep(this.#start(true));
  }

  #keep(idle: TransformProcess): void {
    const end = () => {
      this.#unkeep(idle);
      void idle.kill();
    };
    this.#idle.set(idle, setTimeout(end, idleMs).unref());
  }

  #unkeep(idle: TransformProcess): void {
    clearTimeout(this.#idle.get(idle));
    this.#idle.delete(idle);
  }
}

/** Kills the process when the signal aborts during the action. */
async function abortable<Result>(
  used: TransformProcess,
  signal: AbortSignal,
  action: () => Promise<Result>,
): Promise<Result> {
  const kill = () => void used.kill();
  signal.addEventListener('abort', kill, { once: true });
  try {
    return await action();
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** Rejects with the signal's reason as soon as it aborts. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
