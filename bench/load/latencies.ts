import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import type { ClassResult, Outcome } from './plan.ts';

/** Longer latencies are recorded as this. */
const maxUs = 10 * 60 * 1_000_000;

/** Latencies in a histogram (HdrHistogram) with a resolution of 0.1 %, from 1 µs to 10 minutes. */
export class Latencies {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: maxUs,
    numberOfSignificantValueDigits: 3,
  });

  /** Adds histograms, such as those of several rounds. */
  static merged(encoded: readonly string[]): Latencies {
    const all = new Latencies();
    for (const one of encoded) all.#histogram.add(decodeFromCompressedBase64(one) as never);
    return all;
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  record(ms: number): void {
    this.#histogram.recordValue(Math.min(maxUs, Math.max(0, Math.round(ms * 1_000))));
  }

  /** In ms; NaN when there are no latencies. `share` is 0 to 1. */
  percentile(share: number): number {
    if (this.count === 0) return Number.NaN;
    return this.#histogram.getValueAtPercentile(100 * share) / 1_000;
  }

  encoded(): string {
    return encodeIntoCompressedBase64(this.#histogram as never);
  }
}

/** A percentile of an outcome in several rounds together, in ms; NaN when there was none. */
export const latencyOf = (
  rounds: readonly ClassResult[],
  outcome: Outcome,
  share: number,
): number => Latencies.merged(rounds.map(({ latency }) => latency[outcome])).percentile(share);
