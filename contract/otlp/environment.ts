export type Environment = Readonly<Record<string, string | undefined>>;

/** What the service can send, as OpenTelemetry's variables name it. */
const signals = ['TRACES', 'METRICS'] as const;
type Signal = (typeof signals)[number];

const read = (environment: Environment, name: string): string => environment[name]?.trim() ?? '';

/**
 * Returns whether OpenTelemetry's standard variables enable a signal. Requires an endpoint, because
 * an unconfigured service must not connect to the specification's default endpoint.
 */
export function isOtlpEnabled(environment: Environment, signal: Signal): boolean {
  if (read(environment, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  if (!['', 'otlp'].includes(read(environment, `OTEL_${signal}_EXPORTER`))) return false;
  return (
    read(environment, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== '' ||
    read(environment, 'OTEL_EXPORTER_OTLP_ENDPOINT') !== ''
  );
}

/** The protocols of OTLP over HTTP, and their media types; the first is the standard's default. */
const mediaTypes: Readonly<Record<string, string>> = {
  'http/protobuf': 'application/x-protobuf',
  'http/json': 'application/json',
};

const protocolVariables = (signal: Signal) =>
  [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;

export function findProtocol(environment: Environment, signal: Signal): string {
  const values = protocolVariables(signal).map((name) => read(environment, name));
  return values.find((value) => value !== '') ?? 'http/protobuf';
}

export const headersOf = (protocol: string): Readonly<Record<string, string>> => ({
  'Content-Type': mediaTypes[protocol] ?? '',
});

/** Returns why OpenTelemetry's variables are unusable, or null. */
export function otlpFailure(environment: Environment): string | null {
  for (const signal of signals) {
    if (!isOtlpEnabled(environment, signal)) continue;
    if (Object.hasOwn(mediaTypes, findProtocol(environment, signal))) continue;
    const name = protocolVariables(signal).find((name) => read(environment, name) !== '');
    return `${name} must be http/protobuf or http/json. Collectors usually accept both on port 4318; grpc is not supported.`;
  }
  return null;
}
