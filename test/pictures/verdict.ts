import { compare, type Decoded, decode, type Tolerance } from './compare.ts';

/** Result of the service or the reference. */
export interface Attempt {
  /** Null after a failure. */
  readonly image: Uint8Array | null;
  /** The service's code and message, or the message of the reference; null for an image. */
  readonly failure: string | null;
  /** HTTP status of the service; 0 for the reference. */
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

export type Reference = 'Chromium' | 'sharp';

/** Comparison of an image for a request. */
export interface Verdict {
  readonly file: string;
  readonly request: string;
  readonly reference: Reference;
  /** Source features that can explain a difference. */
  readonly features: readonly string[];
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
  readonly slow: boolean;
  readonly ms: number;
  readonly referenceMs: number;
}

export interface Limits extends Tolerance {
  /** The service is slow above this multiple of the reference's time and `slowMs`. */
  readonly slowFactor: number;
  /** Milliseconds. */
  readonly slowMs: number;
}

export async function judge(
  about: Pick<Verdict, 'file' | 'request' | 'reference' | 'features'>,
  made: Attempt,
  expected: Attempt,
  limits: Limits,
): Promise<Verdict> {
  const { outcome, reasons } = await measureOutcome(made, expected, limits, about.reference);
  const slow =
    made.ms >= limits.slowMs && expected.ms > 0 && made.ms > limits.slowFactor * expected.ms;
  return { ...about, outcome, reasons, slow, ms: made.ms, referenceMs: expected.ms };
}

async function measureOutcome(
  made: Attempt,
  expected: Attempt,
  limits: Limits,
  name: Reference,
): Promise<Pick<Verdict, 'outcome' | 'reasons'>> {
  const failures = [made.failure, expected.failure].flatMap((failure, index) =>
    failure === null ? [] : [`${index === 0 ? 'service' : name}: ${failure}`],
  );
  // The service is overloaded, broken or timed out (504), whatever the reference returns.
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
    return { outcome: 'read by the service alone', reasons: [`${name}: ${error}`] };
  }
  const { reasons } = compare(output, reference, limits);
  return { outcome: reasons.length === 0 ? 'same' : 'differs', reasons };
}

/** Returns true for outcomes that a maintainer must examine. */
export const isWrong = ({ outcome }: Verdict): boolean =>
  outcome === 'differs' || outcome === 'failed' || outcome === 'refused by the service alone';
