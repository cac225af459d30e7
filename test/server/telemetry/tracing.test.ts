// Own process: looks at the modules that the process has loaded.
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import t from 'tap';
import { isTracingEnabled, startTracing } from '../../../server/telemetry/tracing.ts';
import { root } from '../../root.ts';

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
  ];
  for (const [environment, wanted] of cases) {
    t.equal(isTracingEnabled(environment), wanted, JSON.stringify(environment));
  }
});

t.test('loads OpenTelemetry only for traces', async (t) => {
  t.equal(await startTracing({}, log), null);
  t.same(loaded(), []);
  const tracing = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, log);
  t.not(tracing, null);
  t.not(loaded().length, 0);
  await tracing?.close();
});

t.test('imports OpenTelemetry in a single file, dynamically', async (t) => {
  const importers: string[] = [];
  for (const room of ['contract', 'pool', 'server', 'store', 'worker']) {
    const folder = new URL(`${room}/`, root);
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith('.ts')) continue;
      const source = await readFile(new URL(file, folder), 'utf8');
      const text = source.replaceAll(/^import type [^;]*;/gm, '');
      if (/from '(@opentelemetry\/|.*\/otlp\.ts')/.test(text)) importers.push(`${room}/${file}`);
    }
  }
  t.same(importers, ['server/telemetry/otlp.ts']);
});
