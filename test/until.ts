import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Far beyond what anything takes on a machine that is busy with other things: it only ends a wait
 * that would never end, so no test tells by it how fast something is.
 */
export const patienceMs = 90_000;

/**
 * Resolves with the first value that is there, neither undefined nor false, looked for often. Rejects,
 * naming what was waited for, when that takes too long.
 */
export async function until<Value>(
  what: string,
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  withinMs = patienceMs,
): Promise<Value> {
  // By a clock that no test stops.
  const now = () => Number(process.hrtime.bigint() / 1_000_000n);
  const deadline = now() + withinMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}
