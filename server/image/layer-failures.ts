import type { Logger } from 'pino';
import type { ServiceError } from '../../contract/errors.ts';
import type { Layer } from '../../pool/variant.ts';
import { createLogThrottle } from '../telemetry/log-limit.ts';

/** Called when an image is delivered without a layer, which failed. */
export type OnLayerFailure = (projectId: string, layer: Layer, error: ServiceError) => void;

const everyMs = 60_000;
const maxProjects = 10_000;

/**
 * Logs images that are delivered without a layer, at most once a minute for each project. Their
 * URLs are not logged, because they may contain signatures.
 *
 * @param now as of `createLogThrottle`
 */
export function logLayerFailures(log: Pick<Logger, 'warn'>, now?: () => number): OnLayerFailure {
  const mayLog = createLogThrottle(everyMs, maxProjects, now);
  return (project, layer, { code, message }) => {
    if (!mayLog(project)) return;
    const isWatermark = layer.kind === 'image' && layer.isWatermark;
    const missing = isWatermark ? 'their watermark' : 'one of their layers';
    log.warn({ project, code, reason: message }, `images are delivered without ${missing}`);
  };
}
