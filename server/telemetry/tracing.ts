import type { Logger } from '../../contract/log.ts';
import type { Tier } from '../usage/request-counts.ts';
import type { RequestTrace, Tracing } from './otlp.ts';
import type { RouteName } from './process-metrics.ts';

/** Request fields that handlers set for metrics and traces. */
export interface RequestTelemetry {
  route: RouteName;
  /** The image's cache tier. */
  tier: Tier;
  /** Null if the request is not traced. */
  trace: RequestTrace | null;
  /** An image request's source or URL without secrets, or '' if unknown. */
  shownUrl: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether OpenTelemetry's standard variables enable traces. Requires an endpoint, because
 * an unconfigured service must not connect to the specification's default endpoint.
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

/** Returns null if traces are disabled; the OpenTelemetry packages are then not loaded. */
export async function startTracing(
  environment: Environment,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<Tracing | null> {
  if (!isTracingEnabled(environment)) return null;
  const otlp = await import('./otlp.ts');
  return new otlp.Tracing(log);
}
