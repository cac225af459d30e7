import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Niceness added to transform threads and processes, so that the event loop outweighs them
 * ninefold. A transform keeps about two more libvips threads busy, so with threefold weight the
 * loop got only a third of its core while all transforms ran
 * (bench/results/2026-11-26-overload/report.md).
 */
export const addedNiceness = 10;

/**
 * Lowers the priority of all threads in this process except the main thread, which runs the front
 * end's event loop. Threads started later, such as libvips threads, inherit the priority. Only
 * Linux supports per-thread priorities (setpriority(2)); lowering them needs no privilege. On other
 * systems hits are slower during renders.
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

/** Returns an empty list if /proc is missing or uses another PID namespace's numbers. */
function ownThreads(): number[] {
  try {
    const threads = readdirSync('/proc/self/task').map(Number);
    return threads.includes(process.pid) ? threads : [];
  } catch {
    return [];
  }
}
