import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonMetricsSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
} from '@opentelemetry/otlp-transformer';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type HistogramMetricData,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';
import type { Logger } from '../log.ts';
import { type Environment, findProtocol, headersOf } from './environment.ts';
import { createResource, logDiagnostics } from './exporter.ts';

const stopWithinMs = 2_000;
const aggregationTemporality = AggregationTemporality.CUMULATIVE;

/**
 * Sends a program's metrics by OTLP over HTTP, with the names of `/metrics`. OpenTelemetry's
 * packages read the standard variables of the exporter.
 *
 * @param registry returns the metrics to send
 * @returns sends them a last time, and stops; never rejects
 */
export function startMetricsExport(
  environment: Environment,
  log: Pick<Logger, 'info' | 'warn'>,
  registry: () => Registry,
): () => Promise<void> {
  logDiagnostics(log, 'metrics');
  const startTime = millisToHrTime(Date.now());
  const protocol = findProtocol(environment, 'METRICS');
  const options = convertLegacyHttpOptions({}, 'METRICS', 'v1/metrics', headersOf(protocol));
  const isJson = protocol === 'http/json';
  const delegate = createOtlpHttpExportDelegate(
    options,
    isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer,
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  );
  const resource = createResource({ 'host.name': hostname(), 'process.pid': process.pid });
  const readNumber = (name: string, otherwise: number) => Number(environment[name]) || otherwise;
  const exportIntervalMillis = readNumber('OTEL_METRIC_EXPORT_INTERVAL', 60_000);
  const timeoutMs = readNumber('OTEL_METRIC_EXPORT_TIMEOUT', 30_000);
  const collect = async () => {
    const metrics = (await registry().getMetricsAsJSON()).map((metric) =>
      // prom-client's type lacks the names of a histogram's values.
      toMetricData(metric as MetricObjectWithValues<MetricValueWithName<string>>, startTime),
    );
    const scopeMetrics = [{ scope: { name: 'image-delivery' }, metrics }];
    return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPExporterBase(delegate),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(exportIntervalMillis, timeoutMs),
    metricProducers: [{ collect }],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  log.info('sending metrics by OTLP');
  return () =>
    Promise.race([
      provider.shutdown().catch(() => {}),
      delay(stopWithinMs, undefined, { ref: false }),
    ]);
}

/** Converts a metric from prom-client's form. */
export function toMetricData(
  { name, help, type, values }: MetricObjectWithValues<MetricValueWithName<string>>,
  startTime: HrTime,
): MetricData {
  const endTime = millisToHrTime(Date.now());
  const point = <T>(attributes: object, value: T): DataPoint<T> => ({
    startTime,
    endTime,
    attributes: { ...attributes },
    value,
  });
  const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality };
  if (String(type) === 'histogram') {
    const dataPoints = toHistograms(name, values, point);
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.map(({ labels, value }) => point(labels, value));
  return String(type) === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

type Points = HistogramMetricData['dataPoints'];

/** Groups a histogram's values by their labels; the counts of prom-client's buckets are cumulative. */
function toHistograms(
  name: string,
  values: readonly MetricValueWithName<string>[],
  point: (attributes: object, value: Points[number]['value']) => Points[number],
): Points {
  const groups = new Map<string, { labels: object; sum: number; counts: [number, number][] }>();
  for (const { metricName, labels, value } of values) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const group = groups.get(key) ?? { labels: others, sum: 0, counts: [] };
    groups.set(key, group);
    if (metricName === `${name}_sum`) group.sum = value;
    if (metricName === `${name}_bucket`) {
      group.counts.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
    }
  }
  return [...groups.values()].map(({ labels, sum, counts }) => {
    counts.sort(([a], [b]) => a - b);
    return point(labels, {
      sum,
      count: counts.at(-1)?.[1] ?? 0,
      buckets: {
        boundaries: counts.slice(0, -1).map(([bound]) => bound),
        counts: counts.map(([, count], index) => count - (counts[index - 1]?.[1] ?? 0)),
      },
    });
  });
}
