import { spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { hostname } from 'node:os';
import t, { type Test } from 'tap';
import { Client } from 'undici';
import { version } from '../../contract/package.ts';
import { listen } from '../listen.ts';
import { until } from '../until.ts';
import { earlierRequestsReceived, get, held } from './held-reply.ts';
import { httpServers } from './http-servers.ts';
import { picture, startTestOrigin } from './origin.ts';
import { parseMetrics, type Samples, sumTotal } from './scrape.ts';
import { freePort, json, startService } from './service.ts';

interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

/** Starts a collector for OTLP over HTTP in JSON. */
async function startCollector(t: Test) {
  const bodies: string[] = [];
  const metrics: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const received = request.url === '/v1/metrics' ? metrics : bodies;
    received.push(`${request.url} ${Buffer.concat(chunks)}`);
    headers.push(request.headers);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const requests = () => bodies.map((body) => JSON.parse(body.slice(body.indexOf(' '))));
  const spans = (): ReceivedSpan[] =>
    requests().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: ReceivedSpan[] }[] }) =>
        scopeSpans.flatMap(({ spans }) => spans),
      ),
    );
  return { url, bodies, metrics, headers, requests, spans };
}

const readValues = (span: ReceivedSpan | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  );

async function scrape(opsUrl: string): Promise<Samples> {
  const response = await fetch(`${opsUrl}/metrics`);
  return parseMetrics(await response.text());
}

const requests = 'image_delivery_requests_total';
const stageSum = (samples: Samples, stage: string): number =>
  sumTotal(samples, 'image_delivery_stage_duration_seconds_sum', { stage });

/** Waits until the metrics match. Processes report them once a second. */
const untilMetrics = (opsUrl: string, what: string, look: (samples: Samples) => boolean) =>
  until(what, async () => {
    const samples = await scrape(opsUrl);
    return look(samples) && samples;
  });

t.test('reports metrics, traces and log lines from two processes', async (t) => {
  const origin = await startTestOrigin(t);
  const collector = await startCollector(t);
  const opsPort = await freePort();
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const service = await startService(t, {
    environment: {
      SERVICE_PROCESSES: '2',
      SERVICE_OPS_PORT: String(opsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=open',
      OTEL_SERVICE_NAME: 'pictures',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    },
  });
  const project = await service.project();
  const images = (path: string, query = 'w=100') =>
    `${service.url}/img/${encodeURIComponent(`${origin.url}${path}`)}?project=${project}&${query}`;

  await t.test('names the HTTP server in the log and the metrics', async (t) => {
    const [expected = 'node'] = httpServers;
    const { engine } = await service.waitForLog((line) => 'engine' in line);
    t.equal(engine, expected);
    const samples = await untilMetrics(
      opsUrl,
      'the first report',
      (samples) => sumTotal(samples, 'image_delivery_info') > 0,
    );
    const labels = { version, node: process.version, http_engine: expected };
    t.equal(sumTotal(samples, 'image_delivery_info', labels), 1);
  });

  await t.test('traces all stages of a miss', async (t) => {
    const forwarded: IncomingHttpHeaders[] = [];
    const body = await picture(300, 200);
    origin.serve('/cold.jpg', (request, response) => {
      forwarded.push(request.headers);
      response.end(body);
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const parent = 'b7ad6b7169203331';
    const headers = { traceparent: `00-${traceId}-${parent}-01`, tracestate: 'vendor=its-value' };
    const response = await fetch(images('/cold.jpg?token=hush', 'w=100&fmt=webp'), { headers });
    t.equal(response.status, 200);
    const ofTrace = () => collector.spans().filter((span) => span.traceId === traceId);
    const stages = ['coalesce', 'disk', 'fetch', 'memory', 'parse', 'project', 'queue'];
    const expected = [...stages, 'transform', 'write', 'GET /img/*'];
    await until('all spans', () => {
      const names = ofTrace().map(({ name }) => name);
      return expected.every((name) => names.includes(name));
    });
    const spans = ofTrace();
    t.same(new Set(spans.map(({ name }) => name)), new Set(expected));
    const named = (name: string) => spans.find((span) => span.name === name);
    const root = named('GET /img/*');
    t.equal(root?.parentSpanId, parent);
    for (const span of spans) {
      if (span !== root) t.equal(span.parentSpanId, root?.spanId, span.name);
      t.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
    }
    t.match(readValues(root), {
      'http.route': '/img/*',
      'http.response.status_code': 200,
      'image_delivery.project': project,
      'image_delivery.cache.tier': 'miss',
      'image_delivery.request_id': response.headers.get('x-request-id'),
    });
    t.match(readValues(named('fetch')), { 'server.address': '127.0.0.1' });
    t.match(readValues(named('transform')), {
      'image_delivery.format': 'webp',
      'image_delivery.width': 100,
    });
    const fetched = named('fetch');
    t.equal(fetched?.kind, 3, 'a client span');
    t.match(forwarded, [
      { traceparent: `00-${traceId}-${fetched?.spanId}-01`, tracestate: 'vendor=its-value' },
    ]);
    const text = collector.bodies.join();
    t.notMatch(text, /hush|%3A%2F%2F|cold\.jpg/, 'neither a source URL nor its query');
    t.ok(collector.bodies.every((exported) => exported.startsWith('/v1/traces ')));
    t.ok(collector.headers.every((sentHeaders) => sentHeaders['x-collector-key'] === 'open'));
    const [{ resourceSpans }] = collector.requests();
    t.match(readValues(resourceSpans[0].resource), {
      'service.name': 'pictures',
      'deployment.environment.name': 'test',
    });
  });

  await t.test('sends the metrics of the machine', async (t) => {
    const isOfImages = (body: string) =>
      body.includes('{"key":"route","value":{"stringValue":"image"}}');
    const received = await until('the requests', () => collector.metrics.findLast(isOfImages));
    const [{ resource, scopeMetrics }] = JSON.parse(received.slice(12)).resourceMetrics;
    t.match(readValues(resource), { 'service.name': 'pictures', 'host.name': hostname() });
    const named = (name: string) =>
      scopeMetrics[0].metrics.find((metric: { name: string }) => metric.name === name);
    const { sum } = named('image_delivery_requests_total');
    t.match(sum, { isMonotonic: true, aggregationTemporality: 2 });
    t.ok(sum.dataPoints.some((point: ReceivedSpan) => readValues(point)['route'] === 'image'));
    t.equal(named('image_delivery_front_ends_wanted').gauge.dataPoints[0].asDouble, 2);
  });

  await t.test('starts a new trace on an invalid traceparent', async (t) => {
    const seen = collector.spans().length;
    const traceId = '11111111111111111111111111111111';
    for (const traceparent of [
      `00-${traceId}-0000000000000000-01`,
      `00-${traceId}-b7ad6b7169203331`,
      `ff-${traceId}-b7ad6b7169203331-01`,
      `00-${traceId}-b7ad6b7169203331-01, 00-${traceId}-b7ad6b7169203332-01`,
      `${'0'.repeat(8_000)}`,
    ]) {
      const response = await fetch(images('/none.jpg'), { headers: { traceparent } });
      t.equal(response.status, 404);
      await response.arrayBuffer();
    }
    const roots = await until('the spans', () => {
      const spans = collector.spans().slice(seen);
      const found = spans.filter(({ name }) => name === 'GET /img/*');
      return found.length === 5 && found;
    });
    t.ok(roots.every((root) => root.traceId !== traceId && !root.parentSpanId));
  });

  await t.test("counts a slow stage's duration for that stage", async (t) => {
    const fetches = (): number =>
      [...origin.requests.values()].reduce((sum, count) => sum + count, 0);
    const counted = (samples: Samples): boolean => {
      const count = 'image_delivery_stage_duration_seconds_count';
      return sumTotal(samples, count, { stage: 'fetch' }) === fetches();
    };
    const before = await untilMetrics(opsUrl, 'the fetches so far', counted);
    const source = held(await picture(300, 200));
    origin.serve('/slow.jpg', source.reply);
    const request = get(images('/slow.jpg'));
    await until('the fetch', () => source.waiting === 1);
    const heldSince = performance.now();
    const heldForSeconds = () => (performance.now() - heldSince) / 1_000;
    // Longer than a busy machine takes for the stages of this process.
    await untilMetrics(
      opsUrl,
      'a fetch in flight',
      (samples) =>
        sumTotal(samples, 'image_delivery_fetches_running') === 1 && heldForSeconds() > 0.5,
    );
    const heldSeconds = heldForSeconds();
    source.release();
    t.equal((await request.response).status, 200);
    const after = await untilMetrics(opsUrl, 'the fetch has ended', counted);
    t.ok(stageSum(after, 'fetch') - stageSum(before, 'fetch') >= heldSeconds);
    t.ok(stageSum(after, 'parse') - stageSum(before, 'parse') < heldSeconds);
  });

  await t.test('logs an origin error once', async (t) => {
    origin.serve('/broken.jpg', (_, response) => void response.writeHead(500).end());
    const response = await fetch(images('/broken.jpg?token=hush'));
    t.equal(response.status, 502);
    const requestId = response.headers.get('x-request-id');
    const line = await service.waitForLog((line) => line['requestId'] === requestId);
    t.match(line, {
      // A terminal shows warnings and errors only.
      level: 40,
      msg: 'image request failed',
      project,
      host: '127.0.0.1',
      stage: 'fetch',
      code: 'source_unreachable',
      cause: /returned 500/,
    });
    // A process writes its log before its next response.
    await earlierRequestsReceived(service);
    const lines = service.log.filter((line) => line['requestId'] === requestId);
    t.equal(lines.length, 1);
    t.notMatch(service.stdout(), /hush/);
    await untilMetrics(opsUrl, 'the failure', (samples) => {
      const labels = { code: 'source_unreachable', stage: 'fetch' };
      return sumTotal(samples, 'image_delivery_image_failures_total', labels) === 1;
    });
  });

  await t.test('logs a refused request with its id', async (t) => {
    const response = await fetch(images('/cold.jpg?token=hush', 'w=abc&token=hush'));
    t.equal(response.status, 400);
    const requestId = response.headers.get('x-request-id');
    const line = await service.waitForLog((line) => line['requestId'] === requestId);
    t.match(line, { level: 30, project, code: 'parameter_invalid', cause: /^w must be/ });
    t.notMatch(service.stdout(), /hush/);
  });

  await t.test('sums counters over the processes, including ended processes', async (t) => {
    const counted = { route: 'image', status: '200' };
    // Requests of the tests above.
    const before = 2;
    const served = new Set<string>();
    let hits = 0;
    let counter = 0;
    await until('both have sent a response', async () => {
      const headers = { connection: 'close' };
      const response = await fetch(images('/cold.jpg', 'w=90'), { headers });
      await response.arrayBuffer();
      if (response.headers.get('x-cache') === 'memory') hits += 1;
      served.add(response.headers.get('x-request-id')?.split('-')[0] ?? '');
      counter += 1;
      return served.size === 2 && hits > 0;
    });
    const samples = await untilMetrics(
      opsUrl,
      'all of them',
      (samples) => sumTotal(samples, requests, counted) === before + counter,
    );
    t.ok(sumTotal(samples, requests, { ...counted, tier: 'memory' }) >= hits);
    t.equal(
      sumTotal(samples, 'image_delivery_request_duration_seconds_count', { route: 'image' }),
      sumTotal(samples, requests, { route: 'image' }),
    );
    t.ok(sumTotal(samples, 'image_delivery_project_requests_total', { project }) >= counter);

    const [victim = 0] = service.frontEnds();
    process.kill(victim, 'SIGKILL');
    await until('two front ends again', () => {
      const pids = service.frontEnds();
      return pids.length === 2 && !pids.includes(victim);
    });
    for (let i = 0; i < 20; i++) {
      const headers = { connection: 'close' };
      const response = await fetch(`${service.url}/api/health`, { headers });
      t.equal(response.status, 200, 'its sibling and its replacement serve');
      await response.arrayBuffer();
    }
    for (const path of ['/', '/docs', '/nothing']) {
      await (await fetch(service.url + path)).arrayBuffer();
    }
    // Each process reports its figures by itself.
    const after = await untilMetrics(
      opsUrl,
      'the replacement counts',
      (now) =>
        sumTotal(now, requests, { route: 'health', status: '200' }) >= 20 &&
        sumTotal(now, requests, { route: 'console', status: '200' }) === 2 &&
        sumTotal(now, requests, { route: 'other', status: '404' }) === 1,
    );
    for (const [series, value] of samples) {
      if (!/_(total|bucket|sum|count)(\{|$)/.test(series)) continue;
      t.ok((after.get(series) ?? -1) >= value, `${series} has not decreased`);
    }
    const died = { reason: 'died' };
    t.equal(sumTotal(after, 'image_delivery_front_end_restarts_total', died), 1);
    t.equal(sumTotal(after, 'image_delivery_front_ends'), 2);
  });

  await t.test(
    'serves only metrics from the operations listener, and refuses it as a source',
    async (t) => {
      const response = await fetch(`${opsUrl}/metrics`);
      t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
      const text = await response.text();
      const promtool = spawnSync('promtool', ['check', 'metrics'], { input: text });
      if (promtool.error === undefined) t.equal(promtool.status, 0, String(promtool.stderr));
      for (const [path, method, status] of [
        ['/', 'GET', 404],
        ['/metrics/', 'GET', 404],
        ['/metrics', 'POST', 405],
      ] as const) {
        const response = await fetch(`${opsUrl}${path}`, { method });
        t.equal(response.status, status);
        t.type((await json(response)).resolution_hint, 'string');
      }
      const client = new Client(opsUrl);
      t.teardown(() => client.close());
      for (const [host, status] of [
        ['localhost', 200],
        [`[::1]:${opsPort}`, 200],
        ['192.0.2.1', 200],
        [`rebound.example:${opsPort}`, 403],
        ['127.0.0.1.example', 403],
      ] as const) {
        const { statusCode, body } = await client.request({
          method: 'GET',
          path: '/metrics',
          headers: { host },
        });
        t.equal(statusCode, status, host);
        if (status === 403) t.match(await body.json(), { code: 'host_not_allowed' });
        else await body.dump();
      }
      const source = encodeURIComponent(`${opsUrl}/metrics`);
      const refused = await fetch(`${service.url}/img/${source}?project=${project}`);
      t.match([refused.status, await json(refused)], [403, { code: 'source_blocked' }]);
    },
  );
});
