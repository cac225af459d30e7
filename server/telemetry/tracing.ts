import type { Logger } from '../../contract/log.ts';
import { type Environment, isOtlpEnabled } from '../../contract/otlp/environment.ts';
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

/** Returns null if traces are disabled; the OpenTelemetry packages are then not loaded. */
export async function startTracing(
  environment: Environment,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<Tracing | null> {
  if (!isOtlpEnabled(environment, 'TRACES')) return null;
  const otlp = await import('./otlp.ts');
  return new otlp.Tracing(environment, log);
}
