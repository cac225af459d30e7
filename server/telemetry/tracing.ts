import type { Logger } from '../../contract/log.ts';
import type { Tier } from '../usage/request-counts.ts';
import type { RequestTrace, Tracing } from './otlp.ts';
import type { RouteName } from './request-metrics.ts';

/** The fields of a request that its handling sets for metrics and traces. */
export interface RequestTelemetry {
  route: RouteName;
  /** The cache tier of the image. */
  tier: Tier;
  /** Null when the request is not traced. */
  trace: RequestTrace | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether the standard variables of OpenTelemetry enable traces. An endpoint is required: a service
 * without configuration must not connect to the default endpoint of the specification.
 */
export function isTracingEnabled(environment: Environment): boolean {
  const value = (name: string): string => environment[name]?.trim() ?? '';
  if (value('OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  if (value('OTEL_TRACES_EXPORTER') === 'none') return false;
  return (
    value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '' ||
    value('OTEL_EXPORTER_OTLP_ENDPOINT') !== ''
  );
}

/** Null when traces are not enabled; the packages of OpenTelemetry are then not loaded. */
export async function startTracing(
  environment: Environment,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<Tracing | null> {
  if (!isTracingEnabled(environment)) return null;
  const otlp = await import('./otlp.ts');
  return new otlp.Tracing(log);
}
