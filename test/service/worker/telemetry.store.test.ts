import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { listen } from '../../listen.ts';
import { until } from '../../until.ts';
import { startService } from '../service.ts';
import { startWorker } from './worker.ts';

t.test("sends the worker's metrics by OTLP", async (t) => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    bodies.push(`${request.url} ${await text(request)}`);
    response.end();
  });
  const endpoint = `http://127.0.0.1:${await listen(t, collector)}`;
  const service = await startService(t, { environment: { SERVICE_POOL_THREADS: '1' } });
  const worker = await startWorker(t, service, {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  });
  await worker.untilLogged('sending metrics by OTLP');
  const received = await until('the queue', () => {
    const sent = bodies.map((body) => body.replace('/v1/metrics ', ''));
    return sent.find((body) => body.includes('prewarm_queue_jobs') && body.includes('waiting'));
  });
  const [{ resource, scopeMetrics }] = JSON.parse(received).resourceMetrics;
  t.match(resource.attributes.find(({ key }: { key: string }) => key === 'service.name')?.value, {
    stringValue: 'image-delivery',
  });
  const queue = scopeMetrics[0].metrics.find(
    ({ name }: { name: string }) => name === 'prewarm_queue_jobs',
  );
  t.equal(queue.gauge.dataPoints.length, 4, 'all states');

  const refused = await startWorker(t, service, {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  t.not(await refused.end(null), 0);
  t.match(refused.stdout() + refused.stderr(), /OTEL_EXPORTER_OTLP_PROTOCOL must be http/);
});
