import { mean, percentile } from '../report.ts';

/** A finished request. Times are the sending process's `performance.now()` in ms. */
export interface Finished {
  readonly number: number;
  /** Open loop: the due time; closed loop: the send time. */
  readonly dueAt: number;
  readonly endAt: number;
  /**
   * The generator's own share of the latency: until the request was written to its socket, plus the
   * longest time that the response can have waited to be read.
   */
  readonly ownMs: number;
  /** 0 if no complete response arrived. */
  readonly status: number;
  /** The header `X-Cache`. */
  readonly cache: string;
  readonly etag: string;
  /** The header `X-Machine`, which the balancer of `npm run bench:fleet` adds. */
  readonly machine: string;
  readonly bytes: number;
  /** The error if the request received no response; otherwise empty. */
  readonly failure: string;
}

/**
 * An image from a cache or a rendered one, by the header `X-Cache` (without it: `miss`); 429 or 503; any
 * other status, timeout or lost connection.
 */
export const outcomes = ['hit', 'miss', 'refused', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

const fromCache = /hit|memory|disk|shared/i;

export function toOutcome({ status, cache }: Pick<Finished, 'status' | 'cache'>): Outcome {
  if (status === 429 || status === 503) return 'refused';
  if (status === 0 || status >= 400) return 'failed';
  return fromCache.test(cache) ? 'hit' : 'miss';
}

/** One request of a class. */
export interface Sample {
  /** Seconds after the plan's start. */
  readonly dueS: number;
  /** From the due time (open loop) or the sending (closed loop). */
  readonly latencyMs: number;
  /** The latency minus the generator's share. */
  readonly serverMs: number;
  readonly outcome: Outcome;
}

/** A class's requests. */
export interface Counted {
  /** Of the requests that were due after the warm-up. */
  readonly samples: readonly Sample[];
  /** Of those that were due before. */
  readonly early: readonly Sample[];
  readonly counts: Readonly<Record<Outcome, number>>;
  /** Images per second after the warm-up. */
  readonly goodput: number;
  /** Requests with a response, including the warm-up. */
  readonly all: number;
  readonly meanBytes: number;
  /** The number of responses by status and of failures by error. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface ClassResult extends Counted {
  /** The processors that the generator used on average, for all classes, while this class ran. */
  readonly generatorCores: number;
}

export interface Window {
  /** When the plan started, its warm-up ended, and the class ended. */
  readonly beganAt: number;
  readonly fromAt: number;
  readonly untilAt: number;
  /** Whether clients wait for responses: then the rate is that from the last image of the warm-up to the last image. */
  readonly isClosedLoop: boolean;
}

/** @param finished in the order of their ends */
export function computeResult(
  finished: readonly Finished[],
  { beganAt, fromAt, untilAt, isClosedLoop }: Window,
): Counted {
  const counted = finished.filter(({ dueAt }) => dueAt >= fromAt);
  const toSample = (request: Finished): Sample => {
    const latencyMs = request.endAt - request.dueAt;
    const serverMs = Math.max(0, latencyMs - request.ownMs);
    return {
      dueS: (request.dueAt - beganAt) / 1_000,
      latencyMs,
      serverMs,
      outcome: toOutcome(request),
    };
  };
  const samples = counted.map(toSample);
  const early = finished.filter(({ dueAt }) => dueAt < fromAt).map(toSample);
  const count = (outcome: Outcome) => samples.filter((sample) => sample.outcome === outcome).length;
  const counts = { hit: 0, miss: 0, refused: 0, failed: 0 };
  for (const outcome of outcomes) counts[outcome] = count(outcome);
  const statuses: Record<string, number> = {};
  for (const { status, failure } of counted) {
    const name = failure || String(status);
    statuses[name] = (statuses[name] ?? 0) + 1;
  }
  const isImage = (request: Finished) => ['hit', 'miss'].includes(toOutcome(request));
  const images = finished.filter(isImage).map(({ endAt }) => endAt);
  const arrived = images.filter((endAt) => endAt >= fromAt && endAt <= untilAt);
  const windowMs = isClosedLoop
    ? (arrived.at(-1) ?? fromAt) - (images.findLast((endAt) => endAt < fromAt) ?? fromAt)
    : untilAt - fromAt;
  const bytes = counted.filter(isImage).map((request) => request.bytes);
  return {
    samples,
    early,
    counts,
    goodput: (1_000 * arrived.length) / Math.max(1, windowMs),
    all: finished.filter(({ status }) => status !== 0).length,
    meanBytes: bytes.length === 0 ? 0 : mean(bytes),
    statuses,
  };
}

/**
 * Returns a percentile for an outcome over several rounds, in ms; NaN if the outcome never
 * occurred.
 */
export const latencyPercentile = (
  rounds: readonly Pick<ClassResult, 'samples'>[],
  outcome: Outcome,
  share: number,
  part: 'latencyMs' | 'serverMs' = 'latencyMs',
): number => {
  const samples = rounds.flatMap((round) => round.samples);
  const ofOutcome = samples.filter((sample) => sample.outcome === outcome);
  return percentile(
    ofOutcome.map((sample) => sample[part]),
    share,
  );
};
