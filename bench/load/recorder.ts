import { Latencies } from './latencies.ts';
import { type ClassResult, type Outcome, outcomes, type RequestSample } from './plan.ts';

/** One finished request; the times are ms since the start of the plan. */
export interface Finished {
  readonly dueMs: number;
  readonly endMs: number;
  /** 0 if no complete response arrived. */
  readonly status: number;
  /** The header `X-Cache`. */
  readonly cache: string | undefined;
  readonly bytes: number;
  /** The error of a request without a response. */
  readonly failure?: string;
}

const fromCache = /hit|memory|disk|shared/i;
const refusals: ReadonlySet<number> = new Set([429, 503]);

export function outcomeOf({ status, cache }: Pick<Finished, 'status' | 'cache'>): Outcome {
  if (refusals.has(status)) return 'refused';
  if (status === 0 || status >= 400) return 'failed';
  return cache !== undefined && fromCache.test(cache) ? 'hit' : 'miss';
}

/** Counts the requests of one class. */
export class Recorder {
  /** When the class ends; images that arrive later are not counted in its rate. */
  endMs: number;
  /** The number of images that have arrived after the warm-up. */
  arrived = 0;
  readonly #warmupMs: number;
  readonly #keepSamples: boolean;
  readonly #latency = perOutcome(() => new Latencies());
  readonly #statuses = new Map<string, number>();
  readonly #samples: RequestSample[] = [];
  /** When the last image of the warm-up arrived, and the last of all. */
  #countedFromMs: number;
  #lastMs = 0;
  #bytes = 0;
  #responses = 0;

  constructor(options: {
    readonly warmupMs: number;
    readonly endMs: number;
    readonly keepSamples: boolean;
  }) {
    this.#warmupMs = options.warmupMs;
    this.#countedFromMs = options.warmupMs;
    this.endMs = options.endMs;
    this.#keepSamples = options.keepSamples;
  }

  add(finished: Finished): void {
    const { dueMs, endMs, status, bytes, failure } = finished;
    const outcome = outcomeOf(finished);
    const delivered = outcome === 'hit' || outcome === 'miss';
    if (status !== 0) this.#responses += 1;
    if (delivered && endMs < this.#warmupMs) this.#countedFromMs = endMs;
    else if (delivered && endMs <= this.endMs) {
      this.arrived += 1;
      this.#lastMs = endMs;
    }
    if (dueMs < this.#warmupMs) return;
    const latencyMs = endMs - dueMs;
    this.#latency[outcome].record(latencyMs);
    const statusOrError = failure ?? String(status);
    this.#statuses.set(statusOrError, (this.#statuses.get(statusOrError) ?? 0) + 1);
    if (delivered) this.#bytes += bytes;
    if (this.#keepSamples) this.#samples.push({ dueS: dueMs / 1_000, latencyMs, outcome });
  }

  /** @param isClosedLoop whether clients wait for responses, so that the rate counts up to the last image */
  result(isClosedLoop: boolean): ClassResult {
    const counts = perOutcome((outcome) => this.#latency[outcome].count);
    const delivered = counts.hit + counts.miss;
    // The window is from one image to another, so that the rate depends less on the ends of the window.
    const windowMs = isClosedLoop
      ? this.#lastMs - this.#countedFromMs
      : this.endMs - this.#warmupMs;
    return {
      counts,
      goodput: (1_000 * this.arrived) / Math.max(1, windowMs),
      all: this.#responses,
      latency: perOutcome((outcome) => this.#latency[outcome].encoded()),
      meanBytes: delivered === 0 ? 0 : this.#bytes / delivered,
      statuses: Object.fromEntries(this.#statuses),
      samples: this.#samples,
    };
  }
}

function perOutcome<T>(compute: (outcome: Outcome) => T): Record<Outcome, T> {
  const entries = outcomes.map((outcome) => [outcome, compute(outcome)] as const);
  return Object.fromEntries(entries) as Record<Outcome, T>;
}
