import { type Metric, serviceMetrics, workerMetrics } from './table.ts';

/** The metrics as Markdown, for the documentation. */
export function metricsMarkdown(): string {
  return [
    '# Metrics',
    '',
    'The metrics of the service at `/metrics` of its operations listener (`SERVICE_OPS_HOST`, `SERVICE_OPS_PORT`), summed over the processes of the machine. The front ends report once a second; what a process that is killed has counted since its last report is lost. No counter decreases while the service runs.',
    '',
    table(Object.values(serviceMetrics)),
    '',
    'The metrics of a worker at `/metrics` of its operations server (`SERVICE_WORKER_HOST`, `SERVICE_WORKER_PORT`), besides those of Node.js that prom-client names:',
    '',
    table(Object.values(workerMetrics)),
    '',
  ].join('\n');
}

function table(metrics: readonly Metric[]): string {
  const rows = metrics.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(' ')} | ${help} |`,
  );
  return ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
