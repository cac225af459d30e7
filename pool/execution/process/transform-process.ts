import type { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../../contract/errors.ts';
import { decoderFailed, tooMuchMemory, transformTimeout } from '../../formats/errors.ts';
import type { RenderTask } from '../../rendering/render.ts';
import type { TransformResult } from '../task.ts';

/** A message from a transform process to the front end. */
export type FromProcess =
  /** Sent once, when the process works within its limits. */
  | { readonly type: 'ready' }
  | {
      readonly type: 'done';
      readonly result: TransformResult;
      /** Whether the process has used so much CPU time or memory that it must be replaced. */
      readonly exhausted: boolean;
    };

/** The signals after a failed allocation, and of the kernel when memory is short. */
const outOfMemory: ReadonlySet<string> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL']);

/** The front end's handle of a process that transforms one image at a time. */
export class TransformProcess {
  /** Resolves when the process can take a task; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** True until its first task. */
  fresh = true;
  /** True when the process must not get another task. */
  exhausted = false;
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
    // No caller handles the rejection of a process started in advance.
    this.ready.catch(() => {});
    child.on('message', (message: FromProcess) => {
      if (message.type === 'ready') return isReady();
      this.exhausted = message.exhausted;
      this.#settle?.(message.result);
    });
    this.ended = new Promise((resolve) => {
      const end = (error: ServiceError) => {
        this.exhausted = true;
        cannotStart(error);
        this.#settle?.(error);
        resolve();
      };
      child.once('error', (error) => {
        const message = 'The transform process cannot be started.';
        end(new ServiceError('internal_error', message, error));
      });
      child.once('exit', (code, signal) => end(this.#toError(code, signal)));
    });
  }

  /**
   * Callers must wait for `ready`, and for the previous call to settle.
   *
   * @throws ServiceError source_too_large, source_corrupt, transform_timeout, internal_error
   */
  async run(task: RenderTask): Promise<TransformResult> {
    this.fresh = false;
    const result = await new Promise<TransformResult | ServiceError>((resolve) => {
      this.#settle = resolve;
      // If sending fails, the process is ending, which settles the promise.
      this.#child.send(task, () => {});
    });
    this.#settle = null;
    if (result instanceof ServiceError) throw result;
    // A copy, because the buffers of the channel are larger than the message.
    return result.ok ? { ...result, body: new Uint8Array(result.body) } : result;
  }

  /** Kills the process; resolves when it has ended. */
  kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  #toError(code: number | null, signal: NodeJS.Signals | null): ServiceError {
    const cause = new Error(`the transform process ended with ${signal ?? `exit code ${code}`}`);
    if (this.#killed || signal === 'SIGXCPU') return transformTimeout(cause);
    if (signal !== null && outOfMemory.has(signal)) return tooMuchMemory(cause);
    return decoderFailed(cause);
  }
}
