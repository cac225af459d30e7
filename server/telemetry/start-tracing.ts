import type { Logger } from '../../contract/log.ts';
import type { Tracing } from './tracing.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether the standard variables of OpenTelemetry ask for traces. It needs an endpoint: a service that
 * nobody has configured must not connect to the specification's default one.
 */
export function wantsTraces(environment: Environment): boolean {
  const value = (name: string): string => environment[name]?.trim() ?? '';
  if (value('OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  if (value('OTEL_TRACES_EXPORTER') === 'none') return false;
  return (
    value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '' ||
    value('OTEL_EXPORTER_OTLP_ENDPOINT') !== ''
  );
}

/** Null, with nothing of OpenTelemetry loaded, when no traces are wanted. */
export async function startTracing(
  environment: Environment,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<Tracing | null> {
  if (!wantsTraces(environment)) return null;
  const { OtlpTracing } = await import('./otlp.ts');
  return new OtlpTracing(log);
}
