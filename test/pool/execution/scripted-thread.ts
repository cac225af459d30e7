import { spawnSync } from 'node:child_process';
import type { TransformResult } from '../../../pool/execution/task.ts';
import type { RenderTask } from '../../../pool/rendering/render.ts';

/**
 * A transform thread that follows the test's orders through a source in shared memory, so that
 * tests do not depend on durations.
 */
const fields = { orders: 0, started: 1, released: 2, costBytes: 3, costReturned: 4 } as const;
const orders = {
  answer: 0,
  hang: 1,
  exit: 2,
  exhaust: 3,
  throw: 4,
  /** Is not light. */
  cost: 5,
  /** Creates the file SCRIPTED_PIPE.blocked, then waits in native code until the pipe opens. */
  block: 6,
} as const;

export type Order = keyof typeof orders;

/** Returns the test's handle of a task. */
export function scriptedTask(order: Order = 'answer', costBytes = 0) {
  const memory = new Int32Array(new SharedArrayBuffer(20));
  memory[fields.costBytes] = costBytes;
  memory[fields.orders] = orders[order];
  return {
    source: new Uint8Array(memory.buffer),
    started: () => Atomics.load(memory, fields.started) === 1,
    /** Returns true once the thread has returned its cost. */
    costReturned: () => Atomics.load(memory, fields.costReturned) === 1,
    release: () => {
      Atomics.store(memory, fields.released, 1);
      Atomics.notify(memory, fields.released);
    },
  };
}

export default async function transform(task: RenderTask): Promise<TransformResult> {
  const memory = new Int32Array(task.source.buffer);
  if (memory[fields.orders] === orders.cost && task.execution === null) {
    Atomics.store(memory, fields.costReturned, 1);
    const cost = { ms: 1e6, bytes: memory[fields.costBytes] ?? 0 };
    return { ok: false, execution: { isolated: false, cost } };
  }
  Atomics.store(memory, fields.started, 1);
  switch (memory[fields.orders]) {
    case orders.hang:
      for (;;);
    case orders.exit:
      process.exit(1);
      break;
    case orders.exhaust:
      for (const arrays: number[][] = []; ; )
        arrays.push(Array.from({ length: 10_000 }, Math.random));
    case orders.block:
      spawnSync('sh', [
        '-c',
        ': > "$0.blocked"; read line < "$0"',
        process.env['SCRIPTED_PIPE'] ?? '',
      ]);
      break;
    case orders.throw:
      throw new Error('thrown');
  }
  Atomics.wait(memory, fields.released, 0);
  return {
    ok: true,
    body: new Uint8Array(1),
    contentType: 'image/png',
    etag: '"scripted"',
    width: 1,
    height: 1,
    transformMs: 1,
  };
}
