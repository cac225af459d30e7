import { inspect } from 'node:util';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import type { RenderLimits } from '../rendering/pipeline.ts';
import type { Placement } from '../rendering/placement.ts';
import { type RenderedImage, render, renderIfLight } from '../rendering/render.ts';
import type { Variant } from '../variant.ts';

/** The message to a transform thread or to a transform process. */
export interface TransformTask {
  readonly source: Uint8Array;
  /** Bytes of the layers' images and fonts; null for texts without their own font. */
  readonly layers: readonly (Uint8Array | null)[];
  readonly variant: Variant;
  readonly limits: RenderLimits;
  /**
   * Null for a thread, which then places the transform, and runs it at once if it is light and not
   * isolated.
   */
  readonly placement: Placement | null;
}

/** The response. Errors are plain data, because a structured clone drops an error's code. */
export type TransformResult =
  | (RenderedImage & { readonly ok: true; readonly transformMs: number })
  /** Not run yet; or not finished, because it needs more memory than its placement allots. */
  | { readonly ok: false; readonly placement: Placement }
  | {
      readonly ok: false;
      readonly error: ErrorData;
      /** For the log. */
      readonly detail: string;
    };

const maxDetail = 2000;

export async function runTask(task: TransformTask): Promise<TransformResult> {
  const { source, layers, variant, limits, placement } = task;
  const startedAt = performance.now();
  try {
    const run = placement === null ? renderIfLight : render;
    const result = await run(source, layers, variant, limits);
    if ('isolated' in result) return { ok: false, placement: result };
    return { ok: true, ...result, transformMs: performance.now() - startedAt };
  } catch (thrown) {
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail };
  }
}
