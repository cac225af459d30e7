// Own process: looks at the modules that the process has loaded.
import { createRequire } from 'node:module';
import t from 'tap';
import { isOtlpEnabled, otlpFailure } from '../../../contract/otlp/environment.ts';
import { startTracing } from '../../../server/telemetry/tracing.ts';

const endpoint = 'http://127.0.0.1:4318';
const loaded = (): string[] =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) =>
    path.includes('opentelemetry'),
  );
const log = { info: () => {}, warn: () => {} };

t.test('traces only to a configured endpoint, unless traces are off', async (t) => {
  const cases: ReadonlyArray<readonly [Record<string, string>, boolean]> = [
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'pictures', OTEL_TRACES_SAMPLER: 'always_on' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'TRUE' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint }, false],
  ];
  for (const [environment, wanted] of cases) {
    t.equal(isOtlpEnabled(environment, 'TRACES'), wanted, JSON.stringify(environment));
  }
});

t.test('refuses other protocols than OTLP over HTTP, if it would use them', async (t) => {
  const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  t.equal(otlpFailure(grpc), null);
  t.match(
    otlpFailure({ ...grpc, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
    /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf or http\/json\..* grpc is not supported\.$/,
  );
  const own = { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' };
  const onlyMetrics = { ...grpc, ...own, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint };
  t.equal(otlpFailure(onlyMetrics), null);
  t.match(
    otlpFailure({ ...onlyMetrics, OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http' }),
    /^OTEL_EXPORTER_OTLP_METRICS_PROTOCOL must be/,
  );
});

t.test('loads OpenTelemetry only for traces', async (t) => {
  t.equal(await startTracing({}, log), null);
  t.same(loaded(), []);
  const tracing = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, log);
  t.not(tracing, null);
  t.not(loaded().length, 0);
  await tracing?.close();
});
