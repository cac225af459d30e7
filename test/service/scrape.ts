/** Samples of Prometheus' text format by name with labels, in order. */
export type Samples = ReadonlyMap<string, number>;

const namePattern = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const labelPattern = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const sampleLine = new RegExp(
  `^(${namePattern})(?:\\{(${labelPattern}(?:,${labelPattern})*)\\})? (\\S+)$`,
);
const typeLine = new RegExp(`^# TYPE (${namePattern}) (counter|gauge|histogram)$`);
const helpLine = new RegExp(`^# HELP (${namePattern}) \\S.*$`);

/**
 * Parses Prometheus' text format, version 0.0.4, strictly.
 * @throws Error for anything that a scraper could refuse or misread
 */
export function parseMetrics(text: string): Samples {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  let current = '';
  let helped = '';
  for (const line of text.slice(0, -1).split('\n')) {
    // prom-client separates metrics.
    if (line === '') continue;
    const help = helpLine.exec(line)?.[1];
    const [, typed, type = ''] = typeLine.exec(line) ?? [];
    const [, name, labels = '', value = ''] = sampleLine.exec(line) ?? [];
    if (help !== undefined) helped = help;
    else if (typed !== undefined) {
      if (types.has(typed) || helped !== typed) throw new Error(`out of order: ${line}`);
      types.set(typed, type);
      current = typed;
    } else if (name !== undefined) {
      const suffixes = types.get(current) === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!suffixes.some((suffix) => name === current + suffix)) {
        throw new Error(`not in its group: ${line}`);
      }
      const series = labels === '' ? name : `${name}{${labels}}`;
      if (samples.has(series)) throw new Error(`twice: ${series}`);
      if (!Number.isFinite(Number(value))) throw new Error(`no number: ${line}`);
      samples.set(series, Number(value));
    } else throw new Error(`no line of the format: ${line}`);
  }
  checkHistograms(samples);
  return samples;
}

/** Checks that buckets are cumulative: no bucket is smaller than its predecessor. */
function checkHistograms(samples: Samples): void {
  let before = 0;
  for (const [series, value] of samples) {
    const bound = /_bucket\{(.*,)?le="([^"]+)"\}$/.exec(series);
    if (bound === null) continue;
    if (value < before) throw new Error(`less than the bucket before: ${series}`);
    before = bound[2] === '+Inf' ? 0 : value;
    if (bound[2] !== '+Inf') continue;
    const labels = (bound[1] ?? '').slice(0, -1);
    const count = series.replace(/_bucket\{.*$/, `_count${labels === '' ? '' : `{${labels}}`}`);
    if (samples.get(count) !== value) throw new Error(`not the last bucket: ${count}`);
  }
}

/** Returns the sum of a metric's samples that include these labels. */
export function sumTotal(
  samples: Samples,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  let sum = 0;
  for (const [series, value] of samples) {
    const [own, rest = ''] = series.split('{');
    const has = rest.slice(0, -1).split(',');
    if (own === name && pairs.every((pair) => has.includes(pair))) sum += value;
  }
  return sum;
}
