// Own process: sets variables of the environment, which OpenTelemetry's packages read.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { aggregate, MetricsRegistry } from '../../../server/telemetry/registry.ts';
import { listen } from '../../listen.ts';
import { until } from '../../until.ts';

const received: { url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
const server = createServer(async (request, response) => {
  const { url = '', headers } = request;
  received.push({ url, headers, body: await buffer(request) });
  response.end();
});
const port = await listen(t, server);
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${port}`;
process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-key=open';
const log = { info: () => {}, warn: () => {} };
const request = { id: 'request-1', method: 'GET', headerList: () => '' };

const registry = new MetricsRegistry();
registry.increment('requests', 'image', '200', 'miss');
for (const seconds of [0.002, 0.3, 1_000]) {
  registry.histogram('requestDuration', 'image', 'miss').observe(seconds);
}
registry.set('connections', 7);

for (const [protocol, type] of [
  ['', 'application/x-protobuf'],
  ['http/json', 'application/json'],
] as const) {
  t.test(`sends traces and metrics (${protocol || 'by default'})`, async (t) => {
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = protocol;
    received.length = 0;
    const { startTracing } = await import('../../../server/telemetry/tracing.ts');
    const tracing = await startTracing(process.env, log);
    tracing?.begin(request, 'image').end(200, 'miss');
    await tracing?.close();
    const { startMetricsExport } = await import('../../../contract/otlp/metrics.ts');
    const stop = startMetricsExport(process.env, log, () => aggregate([registry.snapshot()]));
    await stop();
    await until('both', () => received.length >= 2);
    const [traces, metrics] = ['/v1/traces', '/v1/metrics'].map((path) =>
      received.find(({ url }) => url === path),
    );
    for (const sent of [traces, metrics]) {
      t.match(sent?.headers, { 'content-type': type, 'x-key': 'open' });
      t.ok(sent?.body.includes('image-delivery'));
    }
    t.ok(traces?.body.includes('GET /img/*'));
    t.ok(metrics?.body.includes('image_delivery_requests_total'));
    if (protocol === '') return;
    const [{ scopeMetrics }] = JSON.parse(String(metrics?.body)).resourceMetrics;
    const named = (name: string) =>
      scopeMetrics[0].metrics.find((metric: { name: string }) => metric.name === name);
    t.match(named('image_delivery_requests_total').sum.dataPoints, [{ asDouble: 1 }]);
    t.match(named('image_delivery_connections').gauge.dataPoints, [{ asDouble: 7 }]);
    const [point] = named('image_delivery_request_duration_seconds').histogram.dataPoints;
    t.match(point, { count: 3, sum: 1_000.302 });
    t.equal(point.explicitBounds.length + 1, point.bucketCounts.length);
    t.same(point.bucketCounts.filter(Boolean).length, 3);
    t.equal(Number(point.bucketCounts.at(-1)), 1);
  });
}
