import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
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

t.test("names and labels follow Prometheus' conventions", async (t) => {
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

/** The names of the service's metrics in a PromQL expression. */
const namesIn = (text: string): string[] => text.match(/\b(image_delivery|prewarm)_\w+/g) ?? [];

const exposed = new Set(
  metrics.flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
  ),
);

t.test('the dashboard and the alert rules name metrics that exist', async (t) => {
  const files = (await readdir(operating)).filter((file) => /\.(json|yml)$/.test(file));
  t.same(files.sort(), ['alerts.yml', 'grafana-dashboard.json']);
  for (const file of files) {
    const names = namesIn(await readFile(new URL(file, operating), 'utf8'));
    t.ok(names.length > 10, file);
    for (const name of names) t.ok(exposed.has(name), `${file}: ${name}`);
  }
});

/** The labels that a PromQL expression groups by or selects. */
const labelsIn = (expression: string): string[] => [
  ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
  ...[...expression.matchAll(/(\w+)\s*(?:=~?|!=|!~)\s*"/g)].map(([, label = '']) => label),
];

const panelsOf = async (): Promise<string[]> => {
  const text = await readFile(new URL('grafana-dashboard.json', operating), 'utf8');
  return JSON.parse(text).panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );
};

/** The queries of docs/operating/monitoring.md. */
const queriesOf = async (): Promise<string[]> => {
  const page = await readFile(new URL('monitoring.md', operating), 'utf8');
  return [...page.matchAll(/^```promql\n(.*?)^```/gms)].map(([, query = '']) => query.trim());
};

t.test('queries of the dashboard and the documents name existing metrics and labels', async (t) => {
  const queries = await queriesOf();
  t.ok(queries.length >= 3);
  for (const query of [...queries, ...(await panelsOf())]) {
    const names = namesIn(query);
    t.ok(names.length > 0, query);
    const known = metrics.filter(({ name }) =>
      names.some((one) => one === name || one.replace(/_(bucket|sum|count)$/, '') === name),
    );
    const labels = new Set(['job', 'instance', 'le', ...known.flatMap(({ labels }) => labels)]);
    for (const name of names) t.ok(exposed.has(name), `${name} in ${query}`);
    for (const label of labelsIn(query)) t.ok(labels.has(label), `${label} in ${query}`);
  }
});

t.test('Grafana can import the dashboard', async (t) => {
  const text = await readFile(new URL('grafana-dashboard.json', operating), 'utf8');
  const { panels, templating, uid, title, schemaVersion } = JSON.parse(text);
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
t.test('promtool accepts them', { skip: !promtool && 'promtool is not installed' }, async (t) => {
  const groups = [...(await panelsOf()), ...(await queriesOf())].map((query, index) => ({
    name: `${index}`,
    rules: [{ record: 'a:panel', expr: query.replaceAll('$__rate_interval', '5m') }],
  }));
  const panels = join(t.testdir({ 'panels.json': JSON.stringify({ groups }) }), 'panels.json');
  for (const file of [fileURLToPath(new URL('alerts.yml', operating)), panels]) {
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', file]);
    t.equal(status, 0, String(stderr));
  }
});
