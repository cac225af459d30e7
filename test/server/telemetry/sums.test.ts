import t from 'tap';
import { exposition } from '../../../server/telemetry/exposition.ts';
import { MetricsRegistry, type MetricsSnapshot } from '../../../server/telemetry/registry.ts';
import { MetricSums } from '../../../server/telemetry/sums.ts';
import { parseMetrics, totalOf } from '../../service/scrape.ts';

const snapshotOf = (fill: (registry: MetricsRegistry) => void): MetricsSnapshot => {
  const registry = new MetricsRegistry();
  fill(registry);
  return registry.snapshot();
};

const requests = (count: number, open: number): MetricsSnapshot =>
  snapshotOf((registry) => {
    registry.counter('requests', 'image', '200', 'miss').value = count;
    registry.gauge('requestsOpen').value = open;
    for (let i = 0; i < count; i++) registry.histogram('stageDuration', 'fetch').observe(0.3);
  });

const read = (sums: MetricSums) => {
  const samples = parseMetrics(exposition(sums.total({})));
  return [
    totalOf(samples, 'image_delivery_requests_total', { status: '200' }),
    totalOf(samples, 'image_delivery_stage_duration_seconds_count', { stage: 'fetch' }),
    totalOf(samples, 'image_delivery_requests_open'),
  ];
};

t.test('sums keep the counters of ended processes and drop their gauges', async (t) => {
  const sums = new MetricSums();
  sums.report(1, requests(5, 2));
  sums.report(2, requests(7, 1));
  t.same(read(sums), [12, 12, 3]);
  sums.report(1, requests(6, 4));
  t.same(read(sums), [13, 13, 5], 'a report replaces the one before');
  sums.end(1);
  t.same(read(sums), [13, 13, 1]);
  sums.report(3, requests(2, 2));
  sums.end(3);
  t.same(read(sums), [15, 15, 1]);
});

t.test('gauges are sums, minimums or maximums of the processes', async (t) => {
  const sums = new MetricSums();
  for (const [id, available] of [1, 0, 1].entries()) {
    const gauges = snapshotOf((registry) => {
      registry.gauge('storeAvailable').value = available;
      registry.gauge('transformStalled').value = id;
      registry.gauge('cacheBytes', 'memory').value = 100;
    });
    sums.report(id, gauges);
  }
  const own = snapshotOf((registry) => {
    registry.gauge('cacheBytes', 'disk').value = 7;
  });
  const samples = parseMetrics(exposition(sums.total(own)));
  t.equal(totalOf(samples, 'image_delivery_store_available'), 0);
  t.equal(totalOf(samples, 'image_delivery_transform_stalled_seconds'), 2);
  t.equal(totalOf(samples, 'image_delivery_cache_bytes', { cache: 'memory' }), 300);
  t.equal(totalOf(samples, 'image_delivery_cache_bytes', { cache: 'disk' }), 7);
});

t.test('buckets of a histogram are cumulative', async (t) => {
  const snapshot = snapshotOf((registry) => {
    const fetch = registry.histogram('stageDuration', 'fetch');
    for (const seconds of [0.1, 0.10001, 1_000]) fetch.observe(seconds);
  });
  const samples = parseMetrics(exposition(snapshot));
  const below = (le: string) =>
    totalOf(samples, 'image_delivery_stage_duration_seconds_bucket', { stage: 'fetch', le });
  t.same(['0.05', '0.1', '0.25', '20', '+Inf'].map(below), [0, 1, 2, 2, 3]);
});

t.test('labels are escaped', async (t) => {
  const snapshot = snapshotOf((registry) => {
    registry.counter('projectRequests', 'a"b\\c\nd', 'miss').value = 1;
  });
  const text = exposition(snapshot);
  t.match(text, 'project="a\\"b\\\\c\\nd",tier="miss"} 1\n');
  t.equal(totalOf(parseMetrics(text), 'image_delivery_project_requests_total'), 1);
});
