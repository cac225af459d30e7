import { LRUCache } from 'lru-cache';

/**
 * Limits repeated log lines to one per key and interval.
 *
 * @param maxKeys maximum keys to track
 * @param now returns ms; must start above 0
 * @returns a function that returns whether to log a line, and counts that line as logged
 */
export function createLogThrottle(
  intervalMs: number,
  maxKeys = 1,
  now: () => number = () => performance.now(),
): (key?: string) => boolean {
  const logged = new LRUCache<string, true>({
    max: maxKeys,
    ttl: intervalMs,
    perf: { now },
    ttlResolution: 0,
  });
  return (key = '') => {
    if (logged.has(key)) return false;
    logged.set(key, true);
    return true;
  };
}
