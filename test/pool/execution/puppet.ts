import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { TransformTask } from '../../../pool/execution/task.ts';
import type { ThreadResult } from '../../../pool/execution/thread.ts';

/**
 * A transform thread that does what the test says, and is told when: its source is memory that both
 * share, so no test has to guess how long something takes.
 */
const words = { orders: 0, started: 1, released: 2, costBytes: 3, looked: 4 } as const;
const orders = {
  answer: 0,
  hang: 1,
  exit: 2,
  exhaust: 3,
  throw: 4,
  native: 5,
  /** Is not light. */
  cost: 6,
  /** Reads the pipe that the environment names, until somebody has written to it. */
  block: 7,
} as const;

/** The test's end of a task. */
export function puppetTask(order: keyof typeof orders = 'answer', costBytes = 0) {
  const memory = new Int32Array(new SharedArrayBuffer(20));
  memory[words.costBytes] = costBytes;
  memory[words.orders] = orders[order];
  return {
    source: new Uint8Array(memory.buffer),
    started: () => Atomics.load(memory, words.started) === 1,
    /** Whether its cost was found. */
    looked: () => Atomics.load(memory, words.looked) === 1,
    release: () => {
      Atomics.store(memory, words.released, 1);
      Atomics.notify(memory, words.released);
    },
  };
}

export default async function puppet(task: TransformTask): Promise<ThreadResult> {
  const memory = new Int32Array(task.source.buffer);
  if (memory[words.orders] === orders.cost && task.onlyLight) {
    Atomics.store(memory, words.looked, 1);
    return { ok: false, exceeds: { ms: 1e6, bytes: memory[words.costBytes] ?? 0 } };
  }
  Atomics.store(memory, words.started, 1);
  switch (memory[words.orders]) {
    case orders.hang:
      for (;;);
    case orders.exit:
      process.exit(1);
      break;
    case orders.exhaust:
      for (const hoard: number[][] = []; ; )
        hoard.push(Array.from({ length: 10_000 }, Math.random));
    case orders.native:
      spawnSync('sleep', ['2']);
      break;
    case orders.block:
      readFileSync(process.env['PUPPET_PIPE'] ?? '');
      break;
    case orders.throw:
      throw new Error('thrown');
  }
  Atomics.wait(memory, words.released, 0);
  return {
    ok: true,
    body: new Uint8Array(1),
    contentType: 'image/png',
    etag: '"puppet"',
    width: 1,
    height: 1,
    transformMs: 1,
  };
}
