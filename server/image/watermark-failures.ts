import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { ServiceError } from '../../contract/errors.ts';

const everyMs = 60_000;
const maxProjects = 10_000;

/**
 * Logs images that are delivered without their watermark or a layer, at most once a minute for each project. Their
 * URLs are not logged, because they may contain signatures.
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
  return (project, { code, message, details }) => {
    if (logged.has(project)) return;
    logged.set(project, true);
    const missing = details.layer === undefined ? 'their watermark' : 'one of their layers';
    log.warn({ project, code, reason: message }, `images are delivered without ${missing}`);
  };
}
