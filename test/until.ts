import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than any operation takes on a busy machine: it only ends endless waits. */
export const patienceMs = 90_000;

/** Pause between polls: frequent polls take processor time from the awaited work. */
const leastSleepMs = 5;
const mostSleepMs = 50;

/** Polls until a value is neither undefined nor false. Rejects with `what` after the time limit. */
export async function until<Value>(
  what: string,
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  withinMs = patienceMs,
): Promise<Value> {
  // `stopClock` does not affect this clock.
  const now = () => Number(process.hrtime.bigint() / 1_000_000n);
  const startedAt = now();
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    const waitedMs = now() - startedAt;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(Math.min(mostSleepMs, Math.max(leastSleepMs, waitedMs / 20)));
  }
}
