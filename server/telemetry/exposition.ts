import { type Metric, type ServiceMetric, serviceMetrics } from './metrics.ts';
import { type MetricsSnapshot, splitLabels } from './registry.ts';

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics in Prometheus' text format, version 0.0.4. */
export function exposition(snapshot: MetricsSnapshot): string {
  const blocks = Object.entries(serviceMetrics).map(([name, metric]) =>
    block(metric, snapshot[name as ServiceMetric] ?? {}),
  );
  return `${blocks.join('\n')}\n`;
}

function block(metric: Metric, values: NonNullable<MetricsSnapshot[ServiceMetric]>): string {
  const { name, help, type, labels } = metric;
  const lines = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
  for (const [key, value] of Object.entries(values)) {
    const texts = splitLabels(key);
    const pairs = labels.map((label, index) => pair(label, texts[index] ?? ''));
    if (typeof value === 'number') lines.push(`${name}${braces(pairs)} ${value}`);
    else lines.push(...histogramLines(metric, pairs, value));
  }
  return lines.join('\n');
}

function histogramLines(
  { name, buckets = [] }: Metric,
  pairs: readonly string[],
  values: readonly number[],
): string[] {
  let count = 0;
  const lines = [...buckets, '+Inf'].map((bound, index) => {
    count += values[index] ?? 0;
    return `${name}_bucket${braces([...pairs, pair('le', String(bound))])} ${count}`;
  });
  const sum = values[buckets.length + 1] ?? 0;
  return [...lines, `${name}_sum${braces(pairs)} ${sum}`, `${name}_count${braces(pairs)} ${count}`];
}

const braces = (pairs: readonly string[]): string =>
  pairs.length === 0 ? '' : `{${pairs.join(',')}}`;

const pair = (label: string, value: string): string => `${label}="${escapeValue(value)}"`;

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
