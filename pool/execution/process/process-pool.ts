import { programUrl } from '../../../contract/package.ts';
import type { RenderTask } from '../../rendering/render.ts';
import { unlessAborted } from '../../unless-aborted.ts';
import { hasProjectFont } from '../../variant.ts';
import type { TransformResult } from '../task.ts';
import { launchTransformProcess, type ProcessFonts, type ProcessLimits } from './launch.ts';
import { createProcessFolder, removeLeftFolders, removeProcessFolder } from './process-folder.ts';
import { TransformProcess } from './transform-process.ts';

const addressSpaceWarning =
  'Transform processes cannot start with an address space limit, so only their resident memory is limited.';

/** How long an idle process is kept, in ms. With sharp loaded it takes 60 to 75 MB. */
const idleMs = 60_000;

/** A start takes 0.3 s on an idle machine. */
const startWithinMs = 30_000;

const defaultEntry = programUrl('pool/execution/process/main');

/**
 * Processes for transforms that must be killable. They start on demand and end after a minute of
 * idleness. The caller limits their number by the number of its tasks.
 *
 * Fontconfig keeps fonts for the life of a process. So a task with a project's fonts gets a process
 * that runs no other task before or after it: no project sees another's fonts.
 */
export class ProcessPool {
  readonly #limits: ProcessLimits;
  readonly #entry: URL;
  readonly #fonts: ProcessFonts | null;
  readonly #all = new Set<TransformProcess>();
  /**
   * The most recently used process is last and is used next, so that surplus processes time out.
   */
  readonly #idle = new Map<TransformProcess, NodeJS.Timeout>();
  #addressSpaceLimited = true;
  #closing = false;

  /** @param fonts null for processes that draw no letters */
  constructor(limits: ProcessLimits, fonts: ProcessFonts | null = null, entry = defaultEntry) {
    this.#limits = limits;
    this.#fonts = fonts;
    this.#entry = entry;
    removeLeftFolders();
  }

  /**
   * @param signal kills the task's process when it aborts; the promise rejects after the process
   *   has ended
   * @throws ServiceError source_too_large, source_corrupt, transform_timeout, internal_error
   */
  async run(task: RenderTask, signal: AbortSignal): Promise<TransformResult> {
    const isOnly = hasProjectFont(task.variant);
    const used = await this.#take(signal, isOnly);
    const kill = () => void used.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      return await used.run(task);
    } finally {
      signal.removeEventListener('abort', kill);
      if (isOnly || used.exhausted) this.#replace(used);
      else this.#addIdle(used);
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#all].map((child) => child.kill()));
  }

  /**
   * Returns an idle or new process once it is ready.
   * @param fresh true for a process that has run no task
   */
  async #take(signal: AbortSignal, fresh: boolean): Promise<TransformProcess> {
    signal.throwIfAborted();
    const idle = [...this.#idle.keys()].filter((child) => child.fresh || !fresh).at(-1);
    if (idle !== undefined) this.#removeIdle(idle);
    let failed: unknown;
    // A process that ends before its first task was killed, or this Node reserves more address
    // space than the limit.
    for (const limited of [true, true, false]) {
      const chosen = failed === undefined && idle ? idle : this.#start(limited);
      try {
        await unlessAborted(chosen.ready, signal);
        if (!limited) this.#omitAddressSpaceLimit();
        return chosen;
      } catch (error) {
        // On a busy machine the start can take longer than a timeout; the next task waits for the
        // same start.
        if (signal.aborted && !chosen.exhausted) this.#addIdle(chosen);
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
    const folder = createProcessFolder();
    const child = launchTransformProcess(
      this.#entry,
      this.#limits,
      limited && this.#addressSpaceLimited,
      folder,
      this.#fonts,
    );
    const started = new TransformProcess(child);
    this.#all.add(started);
    const timer = setTimeout(() => void started.kill(), startWithinMs).unref();
    started.ready.finally(() => clearTimeout(timer)).catch(() => {});
    void started.ended.then(() => {
      removeProcessFolder(folder);
      this.#all.delete(started);
      this.#removeIdle(started);
    });
    return started;
  }

  /** Starts the successor immediately, so that the next task does not wait for it. */
  #replace(used: TransformProcess): void {
    void used.kill();
    if (this.#closing || this.#idle.size > 0) return;
    try {
      this.#addIdle(this.#start(true));
    } catch {
      // The system lacks a descriptor or a process. The next task starts a process, or reports the
      // cause.
    }
  }

  #addIdle(idle: TransformProcess): void {
    const end = () => {
      this.#removeIdle(idle);
      void idle.kill();
    };
    this.#idle.set(idle, setTimeout(end, idleMs).unref());
  }

  #removeIdle(idle: TransformProcess): void {
    clearTimeout(this.#idle.get(idle));
    this.#idle.delete(idle);
  }
}
