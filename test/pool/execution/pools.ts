import type { Test } from 'tap';
import { TransformQueue, type WaitLimits } from '../../../pool/execution/transform-queue.ts';
import { scriptUrl } from '../../scripts.ts';

export const settings = {
  threads: 1,
  queue: 32,
  costlyBytes: 536_870_912,
  sourceMaxPixels: 100_000_000,
  transformTimeoutMs: 60_000,
  processMemoryBytes: 1_536 * 2 ** 20,
};

/** A pool that the test's end closes. */
export function openPool(
  t: Pick<Test, 'teardown'>,
  changed: Partial<typeof settings> = {},
  entry?: URL,
  waitLimits?: WaitLimits,
): TransformQueue {
  const pool = new TransformQueue({ ...settings, ...changed }, entry, waitLimits);
  t.teardown(() => pool.close());
  return pool;
}

/** For requests that nobody gives up. */
export const patient = { project: 'p', signal: new AbortController().signal };

/** A thread's entry that does what the test says. */
export const puppets = scriptUrl('puppet', import.meta.url);
