import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawChart } from '../charts.ts';
import { spread } from '../scenarios/rounds.ts';
import type { Findings, Scenario, Table } from '../scenarios/scenario.ts';
import { goalInWords, type Verdict, verdictInWords } from './verdict.ts';

/** A scenario that was run, with its findings. */
export interface ScenarioResult {
  readonly name: string;
  readonly scenario: Pick<Scenario, 'title' | 'method' | 'measures'>;
  readonly verdicts: readonly Verdict[];
  readonly findings: Findings;
  /** The error that ended it early, or null. */
  readonly failure: string | null;
}

export interface Report {
  /** Lines above the results: the machine, the versions, the command. */
  readonly environment: readonly string[];
  readonly results: readonly ScenarioResult[];
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const markdownTable = ([heads = [], ...rows]: Table['rows']): string =>
  [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

const image = (name: string): string => `![report-${name}.svg](report-${name}.svg)`;

/** Writes report.md and its charts, report-*.svg. */
export async function writeReport(folder: string, report: Report): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (file: string, text: string) => writeFile(join(folder, `report${file}`), text);
  for (const chart of report.results.flatMap(({ findings }) => findings.charts)) {
    await write(`-${chart.name}.svg`, drawChart(chart));
  }
  await write('.md', markdown(report));
}

function markdown({ environment, results }: Report): string {
  const verdicts = results.flatMap((one) => one.verdicts);
  const withGoal = verdicts.filter(({ met }) => met !== null);
  const missed = withGoal.filter(({ met }) => met === false);
  const parts = [
    '# Performance, measured',
    ...environment,
    `${withGoal.length - missed.length} of ${withGoal.length} goals are met.`,
  ];
  if (missed.length > 0) {
    const lines = missed.map(
      (one) =>
        `${one.scenario}: ${one.finding.measure} (${one.finding.caseName}): ${verdictInWords(one)}`,
    );
    parts.push('Missed goals:', list(lines));
  }
  parts.push(...results.flatMap(section));
  return `${parts.join('\n\n')}\n`;
}

function section({ scenario, findings, failure, verdicts }: ScenarioResult): string[] {
  const measures = Object.entries(scenario.measures).map(([name, { what }]) => `${name}: ${what}`);
  const parts = [`## ${scenario.title}`, scenario.method, list(measures)];
  if (failure !== null) parts.push(`**It ended early: ${failure}**`);
  parts.push(...findings.notes);
  if (verdicts.length > 0) {
    const heads = ['what', 'case', 'median (least..most)', 'goal', 'verdict', 'figures'];
    parts.push(markdownTable([heads, ...verdicts.map(verdictRow)]));
  }
  parts.push(...findings.charts.map(({ name }) => image(name)));
  for (const { title, rows } of findings.tables) parts.push(`### ${title}`, markdownTable(rows));
  return parts;
}

function verdictRow(verdict: Verdict): string[] {
  const { measure, finding, met } = verdict;
  const words = verdictInWords(verdict);
  const values = `${spread(finding.values)} ${measure.unit}`;
  const emphasised = met === false ? `**${words}**` : words;
  return [
    finding.measure,
    finding.caseName,
    values,
    goalInWords(measure),
    emphasised,
    finding.detail,
  ];
}
