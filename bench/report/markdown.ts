import { spread } from '../scenarios/rounds.ts';
import type { Findings, Scenario, Table } from '../scenarios/scenario.ts';
import { goalInWords, type Verdict, verdictInWords } from './verdict.ts';

/** One scenario that was run, with what it has found. */
export interface Ran {
  readonly name: string;
  readonly scenario: Scenario;
  readonly verdicts: readonly Verdict[];
  readonly findings: Findings;
  /** Why it ended early; null when it did not. */
  readonly failure: string | null;
}

export interface Report {
  /** What stands above the results: the machine, the command, what to know. */
  readonly circumstances: readonly string[];
  readonly ran: readonly Ran[];
  /** A text of `bench:encoders`, or null. */
  readonly encoders: string | null;
  /** The file names of the pictures, by the scenario's name; under '' that of all goals. */
  readonly pictures: ReadonlyMap<string, readonly string[]>;
}

const escapedCell = (text: string): string => text.replaceAll('|', '\\|');
const row = (cells: readonly string[]): string => `| ${cells.map(escapedCell).join(' | ')} |`;

export function markdownTable([heads = [], ...rows]: Table['rows']): string {
  return [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');
}

const verdictRow = (verdict: Verdict): string[] => {
  const { measure, finding } = verdict;
  const words = verdictInWords(verdict);
  return [
    measure.name,
    finding.of,
    `${spread(finding.values)} ${measure.unit}`,
    goalInWords(measure),
    verdict.met === false ? `**${words}**` : words,
    finding.detail,
  ];
};

const heads = ['what', 'case', 'median (least..most)', 'goal', 'verdict', 'figures'];

export function markdown({ circumstances, ran, encoders, pictures }: Report): string {
  const verdicts = ran.flatMap((one) => one.verdicts);
  const withGoal = verdicts.filter(({ met }) => met !== null);
  const short = withGoal.filter(({ met }) => met === false);
  const images = (name: string) => (pictures.get(name) ?? []).map((file) => `![${file}](${file})`);
  const sections = ran.flatMap(({ name, scenario, findings, failure, verdicts: own }) => [
    `## ${scenario.title}`,
    scenario.about,
    Object.values(scenario.measures)
      .map((measure) => `- ${measure.name}: ${measure.what}`)
      .join('\n'),
    ...(failure === null ? [] : [`**It ended early: ${failure}**`]),
    ...findings.notes,
    ...(own.length === 0 ? [] : [markdownTable([heads, ...own.map(verdictRow)])]),
    ...images(name),
    ...findings.tables.flatMap(({ title, rows }) => [`### ${title}`, markdownTable(rows)]),
  ]);
  return `${[
    '# Performance, measured',
    ...circumstances,
    `${withGoal.length - short.length} of ${withGoal.length} goals are met.`,
    ...(short.length === 0
      ? []
      : [
          'What falls short:',
          short
            .map(
              (one) =>
                `- ${one.scenario}: ${one.measure.name} (${one.finding.of}): ${verdictInWords(one)}`,
            )
            .join('\n'),
        ]),
    ...images(''),
    ...sections,
    ...(encoders === null
      ? []
      : ['## Bytes at equal quality', 'From `npm run bench:encoders`:', encoders.trim()]),
  ].join('\n\n')}\n`;
}
