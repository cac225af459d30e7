let lastBytes = 0;

/**
 * Resident memory of this process, in bytes. Reading it takes a descriptor, and throws while the process or the
 * machine has none: then it is the last value. Timers use it, whose errors would end the process.
 */
export function residentMemory(): number {
  try {
    lastBytes = process.memoryUsage.rss();
  } catch {}
  return lastBytes;
}
