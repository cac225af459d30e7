import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bar, drawBars } from '../charts/bars.ts';
import { drawLines } from '../charts/lines.ts';
import { drawPoints } from '../charts/points.ts';
import { median } from '../scenarios/rounds.ts';
import { markdown, type Ran, type Report } from './markdown.ts';
import { reached, type Verdict, verdictInWords } from './verdict.ts';

/** Writes report.md, report.json and the pictures that report.md shows, all of whose names begin with `report`. */
export async function writeReport(folder: string, report: Omit<Report, 'pictures'>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const pictures = new Map<string, string[]>();
  const add = async (scenario: string, file: string, svg: string) => {
    await writeFile(join(folder, file), svg);
    pictures.set(scenario, [...(pictures.get(scenario) ?? []), file]);
  };
  const bars = report.ran.flatMap(({ verdicts }) => verdicts).map(barOf);
  const drawn = bars.filter((bar) => bar !== null);
  if (drawn.length > 0)
    await add('', 'report-goals.svg', drawBars('Goals, how much of each', drawn));
  for (const { name, findings } of report.ran) {
    for (const chart of findings.charts) {
      const svg = 'axis' in chart ? drawLines(chart) : drawPoints(chart);
      await add(name, `report-${chart.name}.svg`, svg);
    }
  }
  await writeFile(join(folder, 'report.md'), markdown({ ...report, pictures }));
  await writeFile(join(folder, 'report.json'), `${JSON.stringify(raw(report.ran), null, 2)}\n`);
}

function barOf(verdict: Verdict): Bar | null {
  const { scenario, finding, measure } = verdict;
  const { goal } = measure;
  const values = finding.values.filter((value) => !Number.isNaN(value));
  if (goal === null || values.length === 0) return null;
  const shares = values.map((value) => reached(value, goal));
  return {
    label: `${scenario}: ${measure.name} (${finding.of})`,
    share: reached(median(values), goal),
    least: Math.min(...shares),
    most: Math.max(...shares),
    note: verdictInWords(verdict),
  };
}

/** What a program would read of it. */
const raw = (ran: readonly Ran[]) =>
  ran.flatMap(({ name, verdicts, failure }) => [
    ...verdicts.map(({ measure, finding, met }) => ({
      scenario: name,
      ...measure,
      ...finding,
      met,
    })),
    ...(failure === null ? [] : [{ scenario: name, failure }]),
  ]);
