import type { Test } from 'tap';
import {
  type TransformOptions,
  TransformQueue,
  type WaitLimits,
} from '../../../pool/execution/transform-queue.ts';
import { scriptUrl } from '../../scripts.ts';
import { variant } from '../rendering/pictures.ts';
import { type Order, scriptedTask } from './scripted-thread.ts';

export const settings = {
  threads: 1,
  queue: 32,
  costlyBytes: 536_870_912,
  sourceMaxPixels: 100_000_000,
  transformTimeoutMs: 60_000,
  svgTimeoutMs: 60_000,
  processMemoryBytes: 1_536 * 2 ** 20,
  fonts: null,
};

/** A transform queue that is closed with the test. */
export function openPool(
  t: Pick<Test, 'teardown'>,
  changes: Partial<typeof settings> = {},
  entry?: URL,
  waitLimits?: WaitLimits,
): TransformQueue {
  const pool = new TransformQueue({ ...settings, ...changes }, entry, waitLimits);
  t.teardown(() => pool.close());
  return pool;
}

/** Options of a request that is never aborted. */
export const patient = { project: 'p', signal: new AbortController().signal };

/** The entry of threads that follow orders of the test. */
export const scriptedThread = scriptUrl('scripted-thread', import.meta.url);

interface SubmitOptions extends Partial<TransformOptions> {
  readonly order?: Order;
  readonly costBytes?: number;
}

/** Queues a task for a scripted thread. */
export function submit(pool: TransformQueue, options: SubmitOptions = {}) {
  const { order, costBytes, ...more } = options;
  const task = scriptedTask(order, costBytes);
  return { ...task, done: pool.transform(task.source, variant(), { ...patient, ...more }) };
}

/** Queues tasks that record their names, or errors, when they have ended. */
export function recorder(pool: TransformQueue) {
  const ended: string[] = [];
  const run = (name: string, options: SubmitOptions = {}) => {
    const task = submit(pool, options);
    const done = task.done.then(
      () => void ended.push(name),
      ({ code }) => void ended.push(`${name} ${code}`),
    );
    return { ...task, done };
  };
  return { ended, run };
}

/** Releases the tasks and waits for their ends. */
export async function finish(
  ...tasks: readonly { readonly release: () => void; readonly done: Promise<unknown> }[]
): Promise<void> {
  for (const { release } of tasks) release();
  await Promise.all(tasks.map(({ done }) => done));
}
