import { figure, median, spread } from '../scenarios/rounds.ts';
import type { Finding, Goal, Measure } from '../scenarios/scenario.ts';

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
  return { scenario, measure, finding, met: measure.goal && reached(value, measure.goal) >= 1 };
}

/** How much of a goal is reached: 1 or more when it is met, whatever its direction; 0 when unknown. */
export function reached(value: number, goal: Goal): number {
  if (Number.isNaN(value)) return 0;
  if ('atLeast' in goal) return value / goal.atLeast;
  return value <= 0 ? Number.POSITIVE_INFINITY : goal.atMost / value;
}

export const goalInWords = ({ goal, unit }: Measure): string => {
  if (goal === null) return '';
  return 'atLeast' in goal ? `at least ${goal.atLeast} ${unit}` : `at most ${goal.atMost} ${unit}`;
};

/** Such as `0.83 of 0.95: short`; empty without a goal. */
export function verdictInWords({ measure: { goal }, finding, met }: Verdict): string {
  if (goal === null) return '';
  const value = median(finding.values);
  const bound = 'atLeast' in goal ? goal.atLeast : goal.atMost;
  if (Number.isNaN(value)) return 'not measured: short';
  return `${figure(value)} of ${bound}: ${met ? 'met' : 'short'}`;
}

/** One line for the terminal while the scenario runs. */
export function inOneLine(verdict: Verdict): string {
  const { measure, finding } = verdict;
  const words = verdictInWords(verdict);
  const parts = [`${spread(finding.values)} ${measure.unit}`, words, finding.detail];
  return `${measure.name}, ${finding.of}: ${parts.filter(Boolean).join('; ')}`;
}
