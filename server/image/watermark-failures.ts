import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { ServiceError } from '../../contract/errors.ts';

const everyMs = 60_000;
const maxProjects = 10_000;

/**
 * Logs images that are delivered without their watermark, at most once a minute for each project. The
 * watermark's URL is not logged, because it may contain a signature.
 *
 * @param now ms; must start above 0
 */
export function logWatermarkFailures(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): (projectId: string, error: ServiceError) => void {
  const logged = new LRUCache<string, true>({
    max: maxProjects,
    ttl: everyMs,
    perf: { now },
    ttlResolution: 0,
  });
  return (project, { code, message }) => {
    if (logged.has(project)) return;
    logged.set(project, true);
    log.warn({ project, code, reason: message }, 'images are delivered without their watermark');
  };
}
