import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markdownTable } from '../documents/tables.ts';
import { drawChart, type Panel } from './charts.ts';
import type { ProcessSample } from './processes.ts';
import type { Growth, Sample } from './verdict.ts';

export interface SoakReport {
  /** The options and the machine. */
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly growths: readonly Growth[];
  readonly failures: readonly string[];
}

const mebibytes = (bytes: number): number => bytes / 1024 / 1024;

/** Writes soak.svg and soak.md. */
export async function writeReport(folder: string, report: SoakReport): Promise<void> {
  const { title, samples } = report;
  await mkdir(folder, { recursive: true });
  // The thirds that the verdict compares.
  const endS = samples.at(-1)?.atS ?? 1;
  const ticks = [0, 1 / 3, 2 / 3, 1].map((share) => ({
    at: endS * share,
    label: `${((endS * share) / 60).toFixed(1)} min`,
  }));
  await writeFile(join(folder, 'soak.svg'), drawChart({ title, ticks, panels: panels(samples) }));
  await writeFile(join(folder, 'soak.md'), markdown(report));
}

function panels(samples: readonly Sample[]): Panel[] {
  const all = samples.flatMap(({ processes }) => processes);
  const lasting = [...new Set(all.map(({ pid }) => pid))]
    .map((pid) => ({ pid, times: all.filter((member) => member.pid === pid).length }))
    .sort((a, b) => b.times - a.times)
    .slice(0, 6);
  const ofProcesses = (title: string, figure: (measured: ProcessSample) => number | undefined) => ({
    title,
    series: lasting.map(({ pid }) => ({
      name: `${all.find((member) => member.pid === pid)?.role} ${pid}`,
      points: samples.map(({ atS, processes }) => {
        const found = processes.find((member) => member.pid === pid);
        return [atS, (found && figure(found)) ?? Number.NaN] as const;
      }),
    })),
  });
  const ofAll = (title: string, lines: Readonly<Record<string, (sample: Sample) => number>>) => ({
    title,
    series: Object.entries(lines).map(([name, figure]) => ({
      name,
      points: samples.map((sample) => [sample.atS, figure(sample)] as const),
    })),
  });
  return [
    ofProcesses('Memory (RSS), MiB', ({ rssBytes }) => mebibytes(rssBytes)),
    ofProcesses('JavaScript heap, MiB', ({ heapBytes }) => heapBytes && mebibytes(heapBytes)),
    ofProcesses('Descriptors', ({ descriptors }) => descriptors),
    ofProcesses('Event-loop delay, p99 of a second, ms', ({ delayP99Ms }) => delayP99Ms),
    ofAll('Share of images from a cache, %', { 'hit rate': ({ hitRate }) => 100 * hitRate }),
    ofAll('Caches, MiB', {
      'memory cache': ({ memoryCacheBytes }) => mebibytes(memoryCacheBytes),
      'disk cache': ({ diskCacheBytes }) => mebibytes(diskCacheBytes),
    }),
    ofAll('Latency of hits, ms', {
      p50: ({ hitP50Ms }) => hitP50Ms,
      p99: ({ hitP99Ms }) => hitP99Ms,
    }),
    ofAll('Latency of misses, ms', {
      p50: ({ missP50Ms }) => missP50Ms,
      p99: ({ missP99Ms }) => missP99Ms,
    }),
  ];
}

const tableRows = 24;

function markdown({ title, samples, growths, failures }: SoakReport): string {
  const fixed = (value: number, digits = 0) =>
    Number.isFinite(value) ? value.toFixed(digits) : '-';
  const every = Math.max(1, Math.ceil(samples.length / tableRows));
  const rows = samples
    .filter((_, index) => (index + 1) % every === 0)
    .map((sample) => {
      const each = (figure: (measured: ProcessSample) => number | undefined, digits = 0) =>
        sample.processes.map((member) => fixed(figure(member) ?? Number.NaN, digits)).join(' + ');
      return [
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
      ];
    });
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
  const growthRows = growths.map(({ what, middleBytes, lastBytes, flat }) => [
    what,
    fixed(mebibytes(middleBytes), 1),
    fixed(mebibytes(lastBytes), 1),
    `${fixed(100 * (lastBytes / middleBytes - 1), 1)} %`,
    flat ? 'yes' : 'NO',
  ]);
  const result =
    failures.length === 0
      ? 'Passed.'
      : `Failed:\n\n${failures.map((failure) => `- ${failure}`).join('\n')}`;
  const growthHeads = ['mean RSS, MiB', 'middle third', 'last third', 'change', 'flat'];
  const tables = [markdownTable(growthHeads, growthRows), markdownTable(heads, rows)];
  return `${[`# ${title}`, result, ...tables].join('\n\n')}\n`;
}
