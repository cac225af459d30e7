import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** The unit of processor time on Linux, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of this machine, in ms. */
function busyMs(): number {
  const times = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return times.reduce((all, time) => all + time, 0);
}

/** The processor time of this process and of its children that have ended, in ms; NaN without /proc. */
function ownMs(): number {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Sums user and system time, including the children's: the fields 14 to 17.
    return tickMs * fields.slice(11, 15).reduce((all, field) => all + Number(field), 0);
  } catch {
    return Number.NaN;
  }
}

/**
 * Starts to measure other programs' load, which affects even a request's processor time, because
 * processors share caches and clocks.
 * @returns a function to call after all children have ended: returns the average number of
 *   processors that other programs used, or NaN
 */
export function measureOtherLoad(): () => number {
  const since = performance.now();
  const before = busyMs() - ownMs();
  return () => Math.max(0, busyMs() - ownMs() - before) / (performance.now() - since);
}
