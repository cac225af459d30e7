import { isWrong, type Outcome, outcomes, type Verdict } from './verdict.ts';

/** Images of a collection with the same kind of difference. */
export interface Group {
  /** Folder below the given folder; `.` for images in the given folder itself. */
  readonly collection: string;
  readonly outcome: Outcome;
  /** Difference, or message. */
  readonly kind: string;
  readonly verdicts: readonly Verdict[];
}

/** Returns the groups of all verdicts except `same`, the largest first. */
export function groupVerdicts(verdicts: readonly Verdict[]): Group[] {
  const groups = new Map<string, Omit<Group, 'verdicts'> & { verdicts: Verdict[] }>();
  for (const verdict of verdicts) {
    const { file, outcome } = verdict;
    if (outcome === 'same') continue;
    const collection = /^([^/]+)\//.exec(file)?.[1] ?? '.';
    const kind = toKind(verdict);
    const key = JSON.stringify([collection, outcome, kind]);
    const group = groups.get(key) ?? { collection, outcome, kind, verdicts: [] };
    group.verdicts.push(verdict);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.verdicts.length - a.verdicts.length);
}

/** Returns the reasons minus figures and names, and the source's features. */
function toKind({ file, request, reference, outcome, reasons, features }: Verdict): string {
  const generic = reasons.map((reason) =>
    outcome === 'differs'
      ? (reason.split(':')[0] ?? '')
      : reason.replaceAll(/(?<!service: )\b[\d.,]*\d/g, 'n').replaceAll(/\/\S+/g, '…'),
  );
  const extension = /\.([^./]+)$/.exec(file)?.[1]?.toLowerCase() ?? 'no extension';
  const all = [extension, request, `to ${reference}`, generic.join(' and '), ...features];
  return all.filter((part) => part !== '').join(', ');
}

/** Lists the groups with some of their images, lists slow images, and counts the outcomes. */
export function summary(verdicts: readonly Verdict[], examples = Number.POSITIVE_INFINITY): string {
  const groups = groupVerdicts(verdicts);
  const lines = outcomes.flatMap((outcome) => {
    const those = groups.filter((group) => group.outcome === outcome);
    return those.length === 0 ? [] : [`\n${outcome}:`, ...those.flatMap(toLines(examples))];
  });
  const slow = verdicts.filter((verdict) => verdict.slow);
  if (slow.length > 0) {
    lines.push('\nslow:');
    for (const { file, request, reference, ms, referenceMs } of slow) {
      const times = `${ms.toFixed(0)} ms, ${reference} ${referenceMs.toFixed(0)} ms`;
      lines.push(`  ${file} (${request}): ${times}, ${(ms / referenceMs).toFixed(1)} x`);
    }
  }
  const same = verdicts.filter(({ outcome }) => outcome === 'same');
  const seconds = (time: (verdict: Verdict) => number) =>
    (same.reduce((sum, verdict) => sum + time(verdict), 0) / 1_000).toFixed(1);
  const count = (some: readonly unknown[]) => String(some.length).padStart(6);
  return [
    ...lines,
    '',
    ...outcomes.map(
      (outcome) => `${count(verdicts.filter((verdict) => verdict.outcome === outcome))} ${outcome}`,
    ),
    `${count(slow)} slow`,
    `${count(groups.filter(({ verdicts }) => verdicts.some(isWrong)))} groups that differ, fail or are refused by the service alone`,
    `Pictures that are the same took the service ${seconds(({ ms }) => ms)} s, and the references ${seconds(({ referenceMs }) => referenceMs)} s.`,
    '',
  ].join('\n');
}

const toLines =
  (examples: number) =>
  ({ collection, kind, verdicts }: Group): string[] => [
    `  ${verdicts.length} in ${collection}: ${kind}`,
    ...verdicts.slice(0, examples).map(({ file, reasons }) => `    ${file}: ${reasons.join('; ')}`),
    ...(verdicts.length > examples ? [`    … and ${verdicts.length - examples} more`] : []),
  ];
