import type { Logger } from 'pino';
import type { ServiceError } from '../../contract/errors.ts';
import type { Layer } from '../../pool/variant.ts';
import { createLogThrottle } from '../telemetry/log-limit.ts';

/** Called when the service delivers an image without a failed layer. */
export type OnLayerFailure = (projectId: string, layer: Layer, error: ServiceError) => void;

const everyMs = 60_000;
const maxProjects = 10_000;

/**
 * Logs images delivered without a layer, at most once a minute per project. Leaves out their URLs,
 * which might contain signatures.
 *
 * @param now as in `createLogThrottle`
 */
export function logLayerFailures(log: Pick<Logger, 'warn'>, now?: () => number): OnLayerFailure {
  const mayLog = createLogThrottle(everyMs, maxProjects, now);
  return (project, layer, { code, message }) => {
    if (!mayLog(project)) return;
    const isWatermark = layer.kind === 'image' && layer.isWatermark;
    const missing = isWatermark ? 'watermark' : 'layer';
    log.warn({ project, code, reason: message }, `delivering images without ${missing}`);
  };
}
