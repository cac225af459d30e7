import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Niceness added to transform threads and processes, so that the event loop has nine times their weight. A transform
 * keeps about two threads of libvips busy besides its own, so with three times the weight the loop had a third of its core
 * while all transforms ran (bench/results/2026-11-26-overload/report.md).
 */
export const addedNiceness = 10;

/**
 * Lowers the priority of all threads of this process but the main one, which runs the front end's event loop. Threads
 * started later inherit the priority, such as those of libvips. Only Linux has a priority for each thread
 * (setpriority(2)); lowering it needs no privilege. Elsewhere hits are slower while misses are rendered.
 */
export function lowerPriorityOfThreads(): void {
  const priority = getPriority(process.pid) + addedNiceness;
  for (const thread of ownThreads()) {
    if (thread === process.pid) continue;
    try {
      setPriority(thread, Math.min(priority, constants.priority.PRIORITY_LOW));
    } catch {
      // The thread has ended, or a sandbox does not allow it.
    }
  }
}

/** Empty without /proc, and where it uses the numbers of another PID namespace. */
function ownThreads(): number[] {
  try {
    const threads = readdirSync('/proc/self/task').map(Number);
    return threads.includes(process.pid) ? threads : [];
  } catch {
    return [];
  }
}
