import { inspect } from 'node:util';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import { IsolationRequired } from '../formats/isolation.ts';
import { type Cost, CostExceeded } from '../rendering/cost.ts';
import type { RenderLimits } from '../rendering/pipeline.ts';
import { type RenderedImage, render } from '../rendering/render.ts';
import type { Variant } from '../variant.ts';

/** The message to a transform thread or to a transform process. */
export interface TransformTask {
  readonly source: Uint8Array;
  /** The bytes of the images and fonts of the variant's layers; null for texts without a font of their own. */
  readonly layers: readonly (Uint8Array | null)[];
  readonly variant: Variant;
  readonly limits: Omit<RenderLimits, 'isolated'>;
  /** True returns the cost of a transform that is not light instead of running it. */
  readonly onlyLight?: boolean;
  /** Resident memory above which a process returns the transform unfinished, unless it is the limit of the process. */
  readonly memoryBytes?: number;
}

/** The response. Errors are plain data, because a structured clone of an error has no code. */
export type TransformResult =
  | (RenderedImage & { readonly ok: true; readonly transformMs: number })
  /** Not run, because it is not light, or not finished, because it needs more than its part of the memory. */
  | { readonly ok: false; readonly exceeds: Cost }
  | {
      readonly ok: false;
      readonly error: ErrorData;
      /** For the log. */
      readonly detail: string;
    };

const maxDetail = 2000;

/** @returns null when the transform needs a process of its own, and `isolated` is false */
export async function runTask(
  { source, layers, variant, limits, onlyLight }: TransformTask,
  isolated: boolean,
): Promise<TransformResult | null> {
  const startedAt = performance.now();
  try {
    const image = await render(source, layers, variant, { ...limits, isolated }, onlyLight);
    return { ok: true, ...image, transformMs: performance.now() - startedAt };
  } catch (thrown) {
    if (thrown instanceof IsolationRequired) return null;
    if (thrown instanceof CostExceeded) return { ok: false, exceeds: thrown.cost };
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail };
  }
}
