import t from 'tap';
import { serviceMetrics } from '../../../server/telemetry/metrics.ts';
import {
  aggregate,
  MetricSums,
  MetricsRegistry,
  type MetricsSnapshot,
} from '../../../server/telemetry/registry.ts';
import { parseMetrics, sumTotal } from '../../service/scrape.ts';

/** Returns a process's values in the form that another process receives. */
const createSnapshot = async (
  fill: (registry: MetricsRegistry) => void,
): Promise<MetricsSnapshot> => {
  const registry = new MetricsRegistry();
  fill(registry);
  return JSON.parse(JSON.stringify(registry.snapshot()));
};

const requests = (count: number, open: number): Promise<MetricsSnapshot> =>
  createSnapshot((registry) => {
    registry.set('requests', count, 'image', '200', 'miss');
    registry.set('requestsOpen', open);
    for (let i = 0; i < count; i++) registry.histogram('stageDuration', 'fetch').observe(0.3);
  });

const read = async (sums: MetricSums) => {
  const samples = parseMetrics(await sums.total([]).metrics());
  return [
    sumTotal(samples, 'image_delivery_requests_total', { status: '200' }),
    sumTotal(samples, 'image_delivery_stage_duration_seconds_count', { stage: 'fetch' }),
    sumTotal(samples, 'image_delivery_requests_open'),
  ];
};

t.test('keeps the counters of ended processes and drops their gauges', async (t) => {
  const sums = new MetricSums();
  sums.report(1, await requests(5, 2));
  sums.report(2, await requests(7, 1));
  t.same(await read(sums), [12, 12, 3]);
  sums.report(1, await requests(6, 4));
  t.same(await read(sums), [13, 13, 5], 'a report replaces the one before');
  sums.end(1);
  t.same(await read(sums), [13, 13, 1]);
  sums.report(3, await requests(2, 2));
  sums.end(3);
  t.same(await read(sums), [15, 15, 1]);
});

t.test('combines gauges as sums, minimums or maximums of the processes', async (t) => {
  const sums = new MetricSums();
  for (const [id, available] of [1, 0, 1].entries()) {
    const gauges = await createSnapshot((registry) => {
      registry.set('storeAvailable', available);
      registry.set('transformStalled', id);
      registry.set('cacheBytes', 100, 'memory');
    });
    sums.report(id, gauges);
  }
  const own = await createSnapshot((registry) => {
    registry.set('cacheBytes', 7, 'disk');
  });
  const samples = parseMetrics(await sums.total(own).metrics());
  t.equal(sumTotal(samples, 'image_delivery_store_available'), 0);
  t.equal(sumTotal(samples, 'image_delivery_transform_stalled_seconds'), 2);
  t.equal(sumTotal(samples, 'image_delivery_cache_bytes', { cache: 'memory' }), 300);
  t.equal(sumTotal(samples, 'image_delivery_cache_bytes', { cache: 'disk' }), 7);
});

t.test('returns cumulative histogram buckets', async (t) => {
  const snapshot = await createSnapshot((registry) => {
    const fetch = registry.histogram('stageDuration', 'fetch');
    for (const seconds of [0.1, 0.10001, 1_000]) fetch.observe(seconds);
  });
  const samples = parseMetrics(await aggregate([snapshot]).metrics());
  const below = (le: string) =>
    sumTotal(samples, 'image_delivery_stage_duration_seconds_bucket', { stage: 'fetch', le });
  t.same(['0.05', '0.1', '0.25', '20', '+Inf'].map(below), [0, 1, 2, 2, 3]);
});

t.test('escapes labels', async (t) => {
  const snapshot = await createSnapshot((registry) => {
    registry.increment('projectRequests', 'a"b\\c\nd', 'miss');
  });
  const text = await aggregate([snapshot]).metrics();
  t.match(text, 'project="a\\"b\\\\c\\nd",tier="miss"} 1\n');
  t.equal(sumTotal(parseMetrics(text), 'image_delivery_project_requests_total'), 1);
});

t.test('names every metric, even with no values', async (t) => {
  const text = await aggregate([await createSnapshot(() => {})]).metrics();
  for (const { name, help, type } of Object.values(serviceMetrics)) {
    t.match(text, `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  }
  t.equal(parseMetrics(text).size, 0);
});
