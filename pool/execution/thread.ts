import { move, transferableSymbol, valueSymbol } from 'piscina';
import sharp from 'sharp';
import type { RenderTask } from '../rendering/render.ts';
import { blockDecoders } from './decoders.ts';
import { lowerPriorityOfThreads } from './priority.ts';
import { runTask, type TransformResult } from './task.ts';

// A thread rarely processes a source twice, so the cache would only use memory.
sharp.cache(false);
blockDecoders({ onThread: true });
lowerPriorityOfThreads();

/** The entry point of a transform thread. */
export default async function transform(task: RenderTask): Promise<unknown> {
  const result: TransformResult = await runTask(task);
  if (!result.ok) return result;
  return move({
    get [transferableSymbol]() {
      return result.body.buffer;
    },
    get [valueSymbol]() {
      return result;
    },
  });
}
