import { inspect } from 'node:util';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import sharp from 'sharp';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import { type Cost, CostExceeded } from './cost.ts';
import type { RenderLimits } from './picture.ts';
import { type RenderedImage, render } from './render.ts';
import type { Variant } from './variant.ts';

/** The message to a transform thread. */
export interface ThreadTask {
  readonly source: Uint8Array;
  /** The bytes of the variant's watermark; null when it has none. */
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  readonly limits: RenderLimits;
  /** True to do it only if it is light, and else to return its cost. */
  readonly onlyLight?: boolean;
}

/**
 * The response. Errors are sent as plain data because they would lose their code between threads.
 */
export type ThreadResult =
  | (RenderedImage & { readonly ok: true; readonly transformMs: number })
  /** Not done, because it is not light. */
  | { readonly ok: false; readonly exceeds: Cost }
  | {
      readonly ok: false;
      readonly error: ErrorData;
      /** For the log. */
      readonly detail: string;
    };

// A source is hardly ever processed twice by the same thread, so the cache would only use memory.
sharp.cache(false);
// One core per transform; the number of threads determines the total.
sharp.concurrency(1);

const maxDetail = 2000;

/** The entry point of a transform thread. */
export default async function transform(task: ThreadTask): Promise<unknown> {
  const startedAt = performance.now();
  try {
    const { source, watermark, variant, limits, onlyLight } = task;
    const image = await render(source, watermark, variant, limits, onlyLight);
    const transformMs = performance.now() - startedAt;
    const result: ThreadResult = { ok: true, ...image, transformMs };
    return move({
      get [transferableSymbol]() {
        return image.body.buffer;
      },
      get [valueSymbol]() {
        return result;
      },
    });
  } catch (thrown) {
    if (thrown instanceof CostExceeded) {
      return { ok: false, exceeds: thrown.cost } satisfies ThreadResult;
    }
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail } satisfies ThreadResult;
  }
}
