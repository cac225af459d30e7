import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type Metric, serviceMetrics } from '../../../server/telemetry/metrics.ts';
import { workerMetrics } from '../../../worker/metrics.ts';
import { root } from '../../root.ts';

const metrics: readonly Metric[] = [
  ...Object.values(serviceMetrics),
  ...Object.values(workerMetrics),
];
const operating = new URL('docs/operating/', root);

t.test("follows Prometheus' conventions in names and labels", async (t) => {
  t.equal(new Set(metrics.map(({ name }) => name)).size, metrics.length, 'each name once');
  for (const { name, type, help, labels, buckets = [] } of metrics) {
    t.match(name, /^[a-z][a-z0-9_]*$/);
    t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.notMatch(name, /_(ms|milliseconds|kb|mb|percent|count|sum|bucket)(_|$)/, 'base units');
    t.match(help, /^[A-Z0-9][^\n]*\.$/, name);
    for (const label of labels) t.match(label, /^(?!le$|quantile$|__)[a-z_]+$/, name);
    t.equal(buckets.length > 0, type === 'histogram', name);
    t.same(
      buckets,
      [...new Set(buckets)].sort((a, b) => a - b),
    );
  }
});

/** Returns the service's metric names in a PromQL expression. */
const namesIn = (text: string): string[] =>
  text.match(/\b(image_delivery|prewarm|webhook|job)_\w+/g) ?? [];

/** Returns the labels that a PromQL expression groups by or selects. */
const labelsIn = (expression: string): string[] => [
  ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
  ...[...expression.matchAll(/(\w+)\s*(?:=~?|!=|!~)\s*"/g)].map(([, label = '']) => label),
];

/** The metrics by the names of their series. */
const bySeries = new Map(
  metrics.flatMap((metric) =>
    (metric.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map(
      (suffix) => [metric.name + suffix, metric] as const,
    ),
  ),
);

const read = (file: string) => readFile(new URL(file, operating), 'utf8');
const dashboard = JSON.parse(await read('grafana-dashboard.json'));
const panelQueries: string[] = dashboard.panels.flatMap(
  ({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr),
);
/** Queries in docs/operating/monitoring.md. */
const pageQueries = [...(await read('monitoring.md')).matchAll(/^```promql\n(.*?)^```/gms)].map(
  ([, query = '']) => query.trim(),
);
const alerts = await read('alerts.yml');
const alertsFile = fileURLToPath(new URL('alerts.yml', operating));

t.test('contains the metrics and labels of all queries and alert rules', async (t) => {
  t.ok(panelQueries.length > 10 && pageQueries.length >= 3 && namesIn(alerts).length > 10);
  for (const name of namesIn(alerts)) t.ok(bySeries.has(name), `${name} in alerts.yml`);
  for (const query of [...panelQueries, ...pageQueries]) {
    const names = namesIn(query);
    t.ok(names.length > 0, query);
    const labels = names.flatMap((name) => bySeries.get(name)?.labels ?? []);
    const known = new Set(['job', 'instance', 'le', ...labels]);
    for (const name of names) t.ok(bySeries.has(name), `${name} in ${query}`);
    for (const label of labelsIn(query)) t.ok(known.has(label), `${label} in ${query}`);
  }
});

t.test('imports the dashboard into Grafana', async (t) => {
  const { panels, templating, uid, title, schemaVersion } = dashboard;
  t.match({ uid, title, schemaVersion }, { uid: String, title: String, schemaVersion: Number });
  t.match(templating.list[0], { name: 'datasource', type: 'datasource', query: 'prometheus' });
  const ids = panels.map(({ id }: { id: number }) => id);
  t.equal(new Set(ids).size, ids.length, 'each panel has an id of its own');
  const places = new Set<string>();
  const overlaps: string[] = [];
  for (const { gridPos, type, title, targets = [] } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        if (places.has(`${x},${y}`)) overlaps.push(title);
        places.add(`${x},${y}`);
      }
    }
    if (type === 'row') continue;
    t.ok(targets.length > 0, title);
    for (const { refId } of targets) t.match(refId, /^[A-Z]$/);
  }
  t.same(overlaps, []);
});

const promtool = spawnSync('promtool', ['--version']).error === undefined;
t.test(
  'passes promtool with its alert rules and queries',
  { skip: !promtool && 'promtool is not installed' },
  async (t) => {
    const groups = [...panelQueries, ...pageQueries].map((query, index) => ({
      name: `${index}`,
      rules: [{ record: 'a:panel', expr: query.replaceAll('$__rate_interval', '5m') }],
    }));
    const panels = join(t.testdir({ 'panels.json': JSON.stringify({ groups }) }), 'panels.json');
    for (const file of [alertsFile, panels]) {
      const { status, stderr } = spawnSync('promtool', ['check', 'rules', file]);
      t.equal(status, 0, String(stderr));
    }
  },
);

/** Series, and whether an alert fires after an hour. */
const cases: readonly (readonly [
  alert: string,
  fires: boolean,
  series: Readonly<Record<string, string>>,
])[] = [
  ['Down', true, { 'up{job="a"}': '1x30 0x30', 'image_delivery_front_ends{job="a"}': '2x30 _x30' }],
  ['Down', true, { up: '1x60', image_delivery_front_ends: '2x30 0x30' }],
  ['Down', false, { up: '1x60', image_delivery_front_ends: '2x60' }],
  ['Down', false, { 'up{job="other"}': '0x60', image_delivery_front_ends: '2x60' }],
  ['Down', false, { up: '1x40 0x5 1x15', image_delivery_front_ends: '2x40 _x5 2x15' }],
  ['Missing', true, { image_delivery_front_ends: '2x30 stale' }],
  ['Missing', true, { 'up{job="other"}': '1x60' }],
  ['Missing', false, { image_delivery_front_ends: '2x60' }],
  ['WorkerDown', true, { up: '1x30 0x30', prewarm_job_failures_total: '0x30 _x30' }],
  ['WorkerDown', false, { up: '1x60', prewarm_job_failures_total: '0x60' }],
  ['WorkerMissing', true, { image_delivery_worker_seen: '1x30 0x30' }],
  ['WorkerMissing', false, { image_delivery_worker_seen: '1x50 0x2 1x8' }],
  ['WorkerNotScraped', true, { 'up{job="other"}': '1x60' }],
  ['WorkerNotScraped', false, { prewarm_job_failures_total: '0x60' }],
  ['JobsWait', true, { 'job_queue_oldest_waiting_seconds{kind="prewarm"}': '0+60x60' }],
  ['JobsWait', false, { 'job_queue_oldest_waiting_seconds{kind="prewarm"}': '60x60' }],
  [
    'PurgeHookFails',
    true,
    { 'webhook_requests_total{kind="purge_hook",outcome="failed"}': '0+1x60' },
  ],
  [
    'PurgeHookFails',
    false,
    {
      'webhook_requests_total{kind="purge_hook",outcome="failed"}': '0+1x60',
      'webhook_requests_total{kind="purge_hook",outcome="done"}': '0+1x60',
    },
  ],
  [
    'CallbacksFail',
    true,
    {
      'webhook_requests_total{kind="callback",outcome="failed"}': '0+2x60',
      'webhook_requests_total{kind="callback",outcome="done"}': '0+1x60',
    },
  ],
  [
    'CallbacksFail',
    false,
    {
      'webhook_requests_total{kind="callback",outcome="failed"}': '0+1x60',
      'webhook_requests_total{kind="callback",outcome="done"}': '0+2x60',
    },
  ],
];

t.test(
  'fires alerts on time, even after the target and its series disappear',
  { skip: !promtool && 'promtool is not installed' },
  async (t) => {
    const tests = cases.map(([alert, fires, series]) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          eval_time: '1h',
          expr: `count(ALERTS{alertname="ImageDelivery${alert}",alertstate="firing"})`,
          exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
        },
      ],
    }));
    const content = JSON.stringify({ rule_files: [alertsFile], tests });
    const file = join(t.testdir({ 'tests.json': content }), 'tests.json');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file]);
    t.equal(status, 0, `${stdout}${stderr}`);
  },
);
