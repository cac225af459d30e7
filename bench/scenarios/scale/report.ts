import { figure, median, ratios, spread } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import type { Step } from './step.ts';

export type ScaleBench = Bench<'hits' | 'misses' | 'start' | 'index' | 'eviction' | 'projects'>;

/** The findings are those with the most entries. */
export function report(bench: ScaleBench, steps: readonly Step[]): void {
  const last = steps.at(-1);
  if (last === undefined) return;
  const of = `${last.count} entries`;
  const rates = (key: 'hits' | 'misses', other: 'emptyHits' | 'emptyMisses') =>
    `${spread(last[key])}/s, without entries ${spread(last[other])}/s`;
  bench.finding('hits', of, ratios(last.hits, last.emptyHits), rates('hits', 'emptyHits'));
  const misses = ratios(last.misses, last.emptyMisses);
  bench.finding('misses', of, misses, rates('misses', 'emptyMisses'));
  bench.finding('start', of, [last.healthyS], `all entries known after ${figure(last.knownS)} s`);
  const scan = `scan of ${figure(last.scanMs / 1_000)} s`;
  bench.finding('index', of, [last.bytesPerEntry], scan);
  bench.finding('eviction', of, [last.evictionUs / 1_000], '');
  const columns: ReadonlyArray<readonly [string, (step: Step) => number]> = [
    ['healthy, s', ({ healthyS }) => healthyS],
    ['all entries known, s', ({ knownS }) => knownS],
    ['scan alone, s', ({ scanMs }) => scanMs / 1_000],
    ['index, bytes per entry', ({ bytesPerEntry }) => bytesPerEntry],
    ['eviction, µs per entry', ({ evictionUs }) => evictionUs],
    ['RSS of all processes, MiB', (step) => step.residentMiB],
    ['hits/s', ({ hits }) => median(hits)],
    ['of those without entries', ({ hits, emptyHits }) => median(ratios(hits, emptyHits))],
    ['misses/s', (step) => median(step.misses)],
    ['of those without', (step) => median(ratios(step.misses, step.emptyMisses))],
  ];
  bench.table({
    title: 'Entries of the disk cache',
    rows: [
      ['entries', ...columns.map(([head]) => head)],
      ...steps.map((step) => [String(step.count), ...columns.map(([, of]) => figure(of(step)))]),
    ],
  });
  if (steps.length < 2) return;
  const positions = steps.map((step) => step.count);
  bench.chart({
    name: 'scale',
    title: 'Scale, by entries of the disk cache',
    axis: {
      positions,
      logarithmic: true,
      ticks: positions.map((at) => ({ at, label: String(at) })),
    },
    panels: columns.map(([title, of]) => ({
      title,
      series: [{ name: '', values: steps.map(of) }],
    })),
  });
}
