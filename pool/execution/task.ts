import { inspect } from 'node:util';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import type { ExecutionPlan } from '../rendering/execution-plan.ts';
import { type RenderedImage, type RenderTask, render, renderIfLight } from '../rendering/render.ts';

/** The message to a transform thread or to a transform process. */
export interface TransformTask extends RenderTask {
  /**
   * Null for a thread, which then places the transform, and runs it at once if it is light and not
   * isolated.
   */
  readonly execution: ExecutionPlan | null;
}

/** The response. Errors are plain data, because a structured clone drops an error's code. */
export type TransformResult =
  | (RenderedImage & { readonly ok: true; readonly transformMs: number })
  /** Not run yet; or not finished, because it needs more memory than its execution plan allots. */
  | { readonly ok: false; readonly execution: ExecutionPlan }
  | {
      readonly ok: false;
      readonly error: ErrorData;
      /** For the log. */
      readonly detail: string;
    };

const maxDetail = 2000;

export async function runTask(task: TransformTask): Promise<TransformResult> {
  const startedAt = performance.now();
  try {
    const run = task.execution === null ? renderIfLight : render;
    const result = await run(task);
    if ('isolated' in result) return { ok: false, execution: result };
    return { ok: true, ...result, transformMs: performance.now() - startedAt };
  } catch (thrown) {
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail };
  }
}
