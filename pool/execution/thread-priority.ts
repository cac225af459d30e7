import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Niceness added to what transforms, so that the event loop of the front end keeps three times the weight
 * of each thread. While misses kept both cores busy, the p99 of hits was 8 and 9 ms, and 10 and 18 ms
 * without. 10 was no better, and transforms would get little beside other programs.
 */
const added = 5;

/**
 * Lowers the priority of every thread of this process, except for its first on a transform thread, which
 * is the event loop's of the front end. Those of libuv and libvips do a transform's work, and the threads
 * that they start inherit it. Linux alone has a priority for each thread (setpriority(2)); lowering it
 * needs no privilege. Where it cannot be done, hits are slower while misses are rendered.
 */
export function lowerPriority({ onThread }: { readonly onThread: boolean }): void {
  const niceness = Math.min(getPriority(process.pid) + added, constants.priority.PRIORITY_LOW);
  for (const thread of ownThreads()) {
    if (onThread && thread === process.pid) continue;
    try {
      setPriority(thread, niceness);
    } catch {
      // It has ended, or a sandbox does not allow it.
    }
  }
}

/** None where /proc does not tell: it may be absent, or count as outside of this container. */
function ownThreads(): number[] {
  try {
    const threads = readdirSync('/proc/self/task').map(Number);
    return threads.includes(process.pid) ? threads : [];
  } catch {
    return [];
  }
}
