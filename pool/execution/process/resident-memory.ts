let lastBytes = 0;

/**
 * Returns this process's resident memory in bytes. Reading it takes a descriptor and throws while
 * the process or machine has none left; then returns the previous value, because an error in a
 * timer would end the process.
 */
export function residentMemory(): number {
  try {
    lastBytes = process.memoryUsage.rss();
  } catch {}
  return lastBytes;
}
