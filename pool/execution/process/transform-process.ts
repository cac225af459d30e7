import type { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../../contract/errors.ts';
import type { TransformResult, TransformTask } from '../task.ts';
import type { FromProcess } from './messages.ts';

/** The signals of a process whose allocation failed, and of the kernel when memory is short. */
const outOfMemory: ReadonlySet<string> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL']);

/** A process that transforms one image at a time, seen from the front end. */
export class TransformProcess {
  /** Resolves when it can take a task; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** True when it must not get another task. */
  spent = false;
  readonly #child: ChildProcess;
  #settle: ((result: TransformResult | ServiceError) => void) | null = null;
  #killed = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    let isReady = () => {};
    let cannotStart = (_: Error) => {};
    this.ready = new Promise((resolve, reject) => {
      isReady = resolve;
      cannotStart = reject;
    });
    // Without a task nobody waits for it.
    this.ready.catch(() => {});
    child.on('message', (message: FromProcess) => {
      if (message.type === 'ready') return isReady();
      this.spent = message.spent;
      this.#settle?.(message.result);
    });
    this.ended = new Promise((resolve) => {
      const end = (error: ServiceError) => {
        this.spent = true;
        cannotStart(error);
        this.#settle?.(error);
        resolve();
      };
      child.once('error', (error) => end(failed('cannot be started', error)));
      child.once('exit', (code, signal) => end(this.#errorOf(code, signal)));
    });
  }

  /**
   * Only when it is ready.
   *
   * @throws ServiceError source_too_large, source_corrupt, transform_timeout, internal_error
   */
  async run(task: TransformTask): Promise<TransformResult> {
    const result = await new Promise<TransformResult | ServiceError>((resolve) => {
      this.#settle = resolve;
      // When the task cannot be sent the process is ending, which settles the promise.
      this.#child.send(task, () => {});
    });
    this.#settle = null;
    if (result instanceof ServiceError) throw result;
    // The buffers of the channel are larger than the message.
    return result.ok ? { ...result, body: new Uint8Array(result.body) } : result;
  }

  /** Ends it at once, whatever it does; resolves when it has ended. */
  kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  #errorOf(code: number | null, signal: NodeJS.Signals | null): ServiceError {
    const cause = new Error(`the transform process ended with ${signal ?? `exit code ${code}`}`);
    if (this.#killed || signal === 'SIGXCPU') {
      return new ServiceError('transform_timeout', 'The transform took too long.', cause);
    }
    if (signal !== null && outOfMemory.has(signal)) {
      const message = 'The transform of the source needs too much memory.';
      return new ServiceError('source_too_large', message, cause);
    }
    return new ServiceError('source_corrupt', 'The source makes its decoder fail.', cause);
  }
}

function failed(what: string, cause: unknown): ServiceError {
  return new ServiceError('internal_error', `The transform process ${what}.`, cause);
}
