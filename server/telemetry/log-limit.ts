import { LRUCache } from 'lru-cache';

/**
 * Limits log lines that would repeat: for each key, one in an interval.
 *
 * @param maxKeys that are remembered
 * @param now ms; must start above 0
 * @returns whether a line may be logged now, which then counts as logged
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
