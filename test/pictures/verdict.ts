import { compare, type Decoded, decode, type Tolerance } from './compare.ts';

/** The result of the service or of sharp. */
export interface Attempt {
  /** Null after a failure. */
  readonly image: Uint8Array | null;
  /** The service's code and message, or sharp's message; null for an image. */
  readonly failure: string | null;
  /** HTTP status of the service; 0 for sharp. */
  readonly status: number;
  readonly ms: number;
}

export const outcomes = [
  'same',
  'differs',
  'read by the service alone',
  'refused by both',
  'refused by the service alone',
  'failed',
] as const;
export type Outcome = (typeof outcomes)[number];

/** The comparison of one picture for one request. */
export interface Verdict {
  readonly file: string;
  readonly request: string;
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
  readonly slow: boolean;
  readonly ms: number;
  readonly referenceMs: number;
}

export interface Limits extends Tolerance {
  /** The service is slow above this multiple of sharp's time and `slowMs`. */
  readonly slowFactor: number;
  /** Milliseconds. */
  readonly slowMs: number;
}

export async function judge(
  { file, request }: Pick<Verdict, 'file' | 'request'>,
  made: Attempt,
  expected: Attempt,
  limits: Limits,
): Promise<Verdict> {
  const { outcome, reasons } = await outcomeOf(made, expected, limits);
  const slow =
    made.ms >= limits.slowMs && expected.ms > 0 && made.ms > limits.slowFactor * expected.ms;
  return { file, request, outcome, reasons, slow, ms: made.ms, referenceMs: expected.ms };
}

async function outcomeOf(
  made: Attempt,
  expected: Attempt,
  limits: Limits,
): Promise<Pick<Verdict, 'outcome' | 'reasons'>> {
  const failures = [made.failure, expected.failure].flatMap((failure, index) =>
    failure === null ? [] : [`${index === 0 ? 'service' : 'sharp'}: ${failure}`],
  );
  // The service is overloaded or broken, or timed out (504), whatever the result of sharp.
  if (made.image === null && (made.status === 0 || made.status >= 500)) {
    return { outcome: 'failed', reasons: failures };
  }
  if (made.image === null) {
    const both = expected.image === null;
    return {
      outcome: both ? 'refused by both' : 'refused by the service alone',
      reasons: failures,
    };
  }
  if (expected.image === null) return { outcome: 'read by the service alone', reasons: failures };
  const output = await decode(made.image);
  let reference: Decoded;
  try {
    reference = await decode(expected.image);
  } catch (error) {
    return { outcome: 'read by the service alone', reasons: [`sharp: ${error}`] };
  }
  const { reasons } = compare(output, reference, limits);
  return { outcome: reasons.length === 0 ? 'same' : 'differs', reasons };
}

/** True for outcomes that a maintainer has to examine. */
export const isWrong = ({ outcome }: Verdict): boolean =>
  outcome === 'differs' || outcome === 'failed' || outcome === 'refused by the service alone';

/** Lists the pictures that differ, and counts the outcomes. */
export function summary(verdicts: readonly Verdict[]): string {
  const lines = outcomes.flatMap((outcome) => {
    const those = verdicts.filter((verdict) => verdict.outcome === outcome);
    if (outcome === 'same' || those.length === 0) return [];
    return [
      `\n${outcome}:`,
      ...those.map(({ file, request, reasons }) => `  ${file} (${request}): ${reasons.join('; ')}`),
    ];
  });
  const slow = verdicts.filter((verdict) => verdict.slow);
  if (slow.length > 0) {
    lines.push('\nslow:');
    for (const { file, request, ms, referenceMs } of slow) {
      const ratio = (ms / referenceMs).toFixed(1);
      lines.push(
        `  ${file} (${request}): ${ms.toFixed(0)} ms, sharp ${referenceMs.toFixed(0)} ms, ${ratio} x`,
      );
    }
  }
  const count = (outcome: Outcome) =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const time = (of: (verdict: Verdict) => number) =>
    (
      verdicts.filter(({ outcome }) => outcome === 'same').reduce((sum, one) => sum + of(one), 0) /
      1_000
    ).toFixed(1);
  return [
    ...lines,
    '',
    ...outcomes.map((outcome) => `${String(count(outcome)).padStart(6)} ${outcome}`),
    `${String(slow.length).padStart(6)} slow`,
    `Pictures that are the same took the service ${time(({ ms }) => ms)} s, and sharp ${time(({ referenceMs }) => referenceMs)} s.`,
    '',
  ].join('\n');
}
