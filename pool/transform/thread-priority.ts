import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Niceness of all threads but the event loop's, which so has three times their weight. While misses
 * kept both cores busy, the p99 of hits was 8 and 9 ms, and 10 and 18 ms without. 10 was no better, and
 * transforms would get little beside other programs.
 */
const niceness = 5;

/**
 * Lowers the priority of every thread of this process but its first, which is the event loop's. Those
 * of libuv and libvips do a transform's work, and the threads that they start inherit it. Linux alone
 * has a priority for each thread (setpriority(2)); lowering it needs no privilege.
 */
export function yieldToEventLoop(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/task')) {
    const thread = Number(name);
    if (thread === process.pid) continue;
    try {
      setPriority(thread, niceness);
    } catch {
      // It has ended, or its priority is lower already.
    }
  }
}
