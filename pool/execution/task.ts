import { inspect } from 'node:util';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import type { ExecutionPlan } from '../rendering/execution-plan.ts';
import { type RenderedImage, type RenderTask, render } from '../rendering/render.ts';

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

export async function runTask(task: RenderTask): Promise<TransformResult> {
  const startedAt = performance.now();
  try {
    const result = await render(task);
    if ('isolated' in result) return { ok: false, execution: result };
    return { ok: true, ...result, transformMs: performance.now() - startedAt };
  } catch (thrown) {
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail };
  }
}
