import { figure, median, spread } from '../scenarios/rounds.ts';
import type { Finding, Goal, Measure } from '../scenarios/scenario.ts';
import { textTable } from '../text-table.ts';

/** A finding with the goal of its measure. */
export interface Verdict {
  readonly scenario: string;
  readonly measure: Measure;
  readonly finding: Finding;
  /** Null without a goal. */
  readonly met: boolean | null;
}

export function judge(scenario: string, measure: Measure, finding: Finding): Verdict {
  const value = median(finding.values);
  const met = measure.goal === undefined ? null : isMet(value, measure.goal);
  return { scenario, measure, finding, met };
}

/** False for NaN. */
const isMet = (value: number, goal: Goal): boolean =>
  'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;

export const goalInWords = ({ goal, unit }: Measure): string => {
  if (goal === undefined) return '';
  return 'atLeast' in goal ? `at least ${goal.atLeast} ${unit}` : `at most ${goal.atMost} ${unit}`;
};

/** Such as `0.83 of 0.95: missed`; empty without a goal. */
export function verdictInWords({ measure: { goal }, finding, met }: Verdict): string {
  if (goal === undefined) return '';
  const value = median(finding.values);
  if (Number.isNaN(value)) return 'not measured: missed';
  const bound = 'atLeast' in goal ? goal.atLeast : goal.atMost;
  return `${figure(value)} of ${bound}: ${met ? 'met' : 'missed'}`;
}

/** One line for the terminal. */
export function inOneLine(verdict: Verdict): string {
  const { measure, finding } = verdict;
  const values = `${spread(finding.values)} ${measure.unit}`;
  const parts = [values, verdictInWords(verdict), finding.detail];
  return `${finding.measure}, ${finding.caseName}: ${parts.filter(Boolean).join('; ')}`;
}

/** All verdicts, for the terminal. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((one) => [
    `${one.scenario}: ${one.finding.measure}`,
    one.finding.caseName,
    `${spread(one.finding.values)} ${one.measure.unit}`,
    goalInWords(one.measure),
    verdictInWords(one),
  ]);
  return textTable([['', 'case', 'measured', 'goal', 'verdict'], ...rows], 5);
}
