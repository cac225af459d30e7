import { inspect } from 'node:util';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import sharp from 'sharp';
import { type ErrorData, ServiceError } from '../../contract/errors.ts';
import type { RenderLimits } from './picture.ts';
import { type RenderedImage, render } from './render.ts';
import type { Variant } from './variant.ts';

/** What a transform thread is sent. */
export interface ThreadTask {
  readonly source: Uint8Array;
  /** The bytes behind the variant's watermark; null when it has none. */
  readonly watermark: Uint8Array | null;
  readonly variant: Variant;
  readonly limits: RenderLimits;
}

/** What it answers. An error would lose its code between threads, so it is sent as data. */
export type ThreadResult =
  | (RenderedImage & { readonly ok: true; readonly transformMs: number })
  | {
      readonly ok: false;
      readonly error: ErrorData;
      /** For the log. */
      readonly detail: string;
    };

// Sources hardly ever come twice to one thread, so a cache of operations would only hold memory.
sharp.cache(false);
// One transform keeps one core busy; the number of threads is what decides on the cores.
sharp.concurrency(1);

const maxDetail = 2000;

/** The entry of a transform thread. */
export default async function transform(task: ThreadTask): Promise<unknown> {
  const startedAt = performance.now();
  try {
    const image = await render(task.source, task.watermark, task.variant, task.limits);
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
    const error = ServiceError.of(thrown);
    const detail = inspect(error.cause).slice(0, maxDetail);
    return { ok: false, error: error.toData(), detail } satisfies ThreadResult;
  }
}
