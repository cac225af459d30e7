import { Latencies } from './latencies.ts';
import { type ClassResult, type Outcome, outcomes, type Plan, type RequestSample } from './plan.ts';

/** One finished request; the times are ms since the start of the plan. */
export interface Finished {
  readonly dueMs: number;
  readonly endMs: number;
  /** 0 without a complete response. */
  readonly status: number;
  /** The header `X-Cache`. */
  readonly cache: string | undefined;
  readonly bytes: number;
  /** The error without a response. */
  readonly failure?: string;
}

const fromCache = /hit|memory|disk/i;
const refusals: ReadonlySet<number> = new Set([429, 503]);

export function outcomeOf({ status, cache }: Pick<Finished, 'status' | 'cache'>): Outcome {
  if (refusals.has(status)) return 'refused';
  if (status === 0 || status >= 400) return 'failed';
  return cache !== undefined && fromCache.test(cache) ? 'hit' : 'miss';
}

/** Counts the requests of one class. */
export class Recorder {
  readonly #warmupMs: number;
  #endMs: number;
  readonly #keepSamples: boolean;
  readonly #latency = Object.fromEntries(
    outcomes.map((outcome) => [outcome, new Latencies()]),
  ) as Record<Outcome, Latencies>;
  readonly #answers = new Map<string, number>();
  readonly #perSecond: number[];
  readonly #samples: RequestSample[] = [];
  #inTime = 0;
  /** When the last image of the warm-up arrived, and the last of all. */
  #countedFromMs: number;
  #lastMs = 0;
  #bytes = 0;
  #all = 0;

  constructor({ seconds, warmupS = 0 }: Plan, keepSamples: boolean) {
    this.#warmupMs = warmupS * 1_000;
    this.#countedFromMs = this.#warmupMs;
    this.#endMs = seconds * 1_000;
    this.#keepSamples = keepSamples;
    this.#perSecond = new Array<number>(Math.ceil(seconds)).fill(0);
  }

  add(finished: Finished): void {
    const { dueMs, endMs, status, bytes, failure } = finished;
    const outcome = outcomeOf(finished);
    const delivered = outcome === 'hit' || outcome === 'miss';
    if (status !== 0) this.#all += 1;
    if (delivered && endMs < this.#warmupMs) this.#countedFromMs = endMs;
    else if (delivered && endMs <= this.#endMs) {
      this.#inTime += 1;
      this.#lastMs = endMs;
      const second = Math.floor(endMs / 1_000);
      this.#perSecond[second] = (this.#perSecond[second] ?? 0) + 1;
    }
    if (dueMs < this.#warmupMs) return;
    const latencyMs = endMs - dueMs;
    this.#latency[outcome].record(latencyMs);
    const answer = failure ?? String(status);
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
    if (delivered) this.#bytes += bytes;
    if (this.#keepSamples) this.#samples.push({ dueS: dueMs / 1_000, latencyMs, outcome });
  }

  /** The number of images that have arrived after the warm-up. */
  get arrived(): number {
    return this.#inTime;
  }

  /** Changes the end of the plan. */
  endsAt(ms: number): void {
    this.#endMs = ms;
  }

  /** @param ofClients whether the rate counts up to the last image */
  result(ofClients: boolean): ClassResult {
    const counts = perOutcome((outcome) => this.#latency[outcome].count);
    const delivered = counts.hit + counts.miss;
    // From one image to another, so that the rate depends less on the ends of the window.
    const windowMs = ofClients ? this.#lastMs - this.#countedFromMs : this.#endMs - this.#warmupMs;
    return {
      counts,
      goodput: (1_000 * this.#inTime) / Math.max(1, windowMs),
      all: this.#all,
      latency: perOutcome((outcome) => this.#latency[outcome].encoded()),
      meanBytes: delivered === 0 ? 0 : this.#bytes / delivered,
      answers: Object.fromEntries(this.#answers),
      perSecond: this.#perSecond,
      samples: this.#samples,
    };
  }
}

const perOutcome = <T>(of: (outcome: Outcome) => T): Record<Outcome, T> =>
  Object.fromEntries(outcomes.map((outcome) => [outcome, of(outcome)])) as Record<Outcome, T>;
