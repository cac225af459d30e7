import { DiagLogLevel, diag } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { Logger } from '../log.ts';
import { createLogThrottle } from '../log-limit.ts';

/**
 * Interval of the warnings: an exporter that cannot reach its collector fails every few seconds.
 */
const warnEveryMs = 60_000;

/** Describes the sender, as the environment's OTEL_RESOURCE_ATTRIBUTES complete it. */
export const createResource = (attributes: Readonly<Record<string, string | number>>): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'image-delivery', ...attributes }))
    .merge(detectResources({ detectors: [envDetector] }));

/** Logs OpenTelemetry's warnings, such as spans that could not be sent. */
export function logDiagnostics(log: Pick<Logger, 'warn'>, what: 'traces' | 'metrics'): void {
  const mayLog = createLogThrottle(warnEveryMs);
  const warn = (message: string): void => {
    if (!mayLog()) return;
    log.warn({ reason: message.slice(0, 300) }, `sending ${what} failed`);
  };
  const ignore = (): void => {};
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
