import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawLines, type Panel } from '../../bench/charts/lines.ts';
import type { ProcessSample } from '../../bench/servers/processes.ts';
import type { Growth, Sample } from './verdict.ts';

export interface SoakReport {
  /** What was run, and where. */
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly growths: readonly Growth[];
  readonly failures: readonly string[];
}

const mebibytes = (bytes: number): number => bytes / 1024 / 1024;

/** Writes soak.svg, soak.md and soak.json. */
export async function writeReport(folder: string, report: SoakReport): Promise<void> {
  const { title, samples } = report;
  await mkdir(folder, { recursive: true });
  const positions = samples.map(({ atS }) => atS);
  const axis = { positions, ticks: thirds(positions.at(-1) ?? 1) };
  await writeFile(join(folder, 'soak.svg'), drawLines({ title, axis, panels: panels(samples) }));
  await writeFile(join(folder, 'soak.md'), markdown(report));
  await writeFile(join(folder, 'soak.json'), `${JSON.stringify(report, null, 2)}\n`);
}

/** The thirds that the verdict compares. */
const thirds = (endS: number) =>
  [0, 1 / 3, 2 / 3, 1].map((share) => ({
    at: endS * share,
    label: `${((endS * share) / 60).toFixed(1)} min`,
  }));

function panels(samples: readonly Sample[]): Panel[] {
  const all = samples.flatMap(({ processes }) => processes);
  const lasting = [...new Set(all.map(({ pid }) => pid))]
    .map((pid) => ({ pid, times: all.filter((one) => one.pid === pid).length }))
    .sort((a, b) => b.times - a.times)
    .slice(0, 6)
    .map(({ pid }) => pid);
  const ofProcesses = (figure: (sample: ProcessSample) => number | undefined) =>
    lasting.map((pid) => ({
      name: `${all.find((one) => one.pid === pid)?.role} ${pid}`,
      values: samples.map(({ processes }) => {
        const found = processes.find((one) => one.pid === pid);
        return (found && figure(found)) ?? Number.NaN;
      }),
    }));
  const line = (name: string, figure: (sample: Sample) => number) => ({
    name,
    values: samples.map(figure),
  });
  return [
    { title: 'Memory (RSS), MiB', series: ofProcesses(({ rssBytes }) => mebibytes(rssBytes)) },
    {
      title: 'JavaScript heap, MiB',
      series: ofProcesses(({ heapBytes }) => heapBytes && mebibytes(heapBytes)),
    },
    { title: 'Descriptors', series: ofProcesses(({ descriptors }) => descriptors) },
    {
      title: 'Event-loop delay, p99 of a second, ms',
      series: ofProcesses(({ delayP99Ms }) => delayP99Ms),
    },
    {
      title: 'Share of images from a cache, %',
      series: [line('hit rate', ({ hitRate }) => 100 * hitRate)],
    },
    {
      title: 'Caches, MiB',
      series: [
        line('memory cache', ({ memoryCacheBytes }) => mebibytes(memoryCacheBytes)),
        line('disk cache', ({ diskCacheBytes }) => mebibytes(diskCacheBytes)),
      ],
    },
    {
      title: 'Latency of hits, ms',
      series: [line('p50', ({ hitP50Ms }) => hitP50Ms), line('p99', ({ hitP99Ms }) => hitP99Ms)],
    },
    {
      title: 'Latency of misses, ms',
      series: [
        line('p50', ({ missP50Ms }) => missP50Ms),
        line('p99', ({ missP99Ms }) => missP99Ms),
      ],
    },
  ];
}

const tableRows = 24;

function markdown({ title, samples, growths, failures }: SoakReport): string {
  const row = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  const fixed = (value: number, digits = 0) =>
    Number.isFinite(value) ? value.toFixed(digits) : '-';
  const every = Math.max(1, Math.ceil(samples.length / tableRows));
  const shown = samples.filter((_, index) => (index + 1) % every === 0);
  const heads = [
    'min',
    'RSS of each process, MiB',
    'descriptors',
    'delay p99, ms',
    'hits, %',
    'hit p50, ms',
    'hit p99, ms',
    'miss p50, ms',
    'miss p99, ms',
    'requests',
  ];
  const rows = shown.map((sample) => {
    const each = (figure: (one: ProcessSample) => number | undefined, digits = 0) =>
      sample.processes.map((one) => fixed(figure(one) ?? Number.NaN, digits)).join(' + ');
    return row([
      fixed(sample.atS / 60, 1),
      each(({ rssBytes }) => mebibytes(rssBytes)),
      each(({ descriptors }) => descriptors),
      each(({ delayP99Ms }) => delayP99Ms, 1),
      fixed(100 * sample.hitRate, 1),
      fixed(sample.hitP50Ms, 1),
      fixed(sample.hitP99Ms, 1),
      fixed(sample.missP50Ms),
      fixed(sample.missP99Ms),
      sample.requests,
    ]);
  });
  const growthRows = growths.map(({ what, middleBytes, lastBytes, flat }) =>
    row([
      what,
      fixed(mebibytes(middleBytes), 1),
      fixed(mebibytes(lastBytes), 1),
      `${fixed(100 * (lastBytes / middleBytes - 1), 1)} %`,
      flat ? 'yes' : 'NO',
    ]),
  );
  return [
    `# ${title}`,
    '',
    failures.length === 0
      ? 'Passed.'
      : `Failed:\n\n${failures.map((one) => `- ${one}`).join('\n')}`,
    '',
    row(['mean RSS, MiB', 'middle third', 'last third', 'change', 'flat']),
    row(['---', '---', '---', '---', '---']),
    ...growthRows,
    '',
    row(heads),
    row(heads.map(() => '---')),
    ...rows,
    '',
  ].join('\n');
}
