import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';

/** The maximum; longer latencies are recorded as this. */
const longestUs = 10 * 60 * 1_000_000;

const empty = (): Histogram =>
  build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: longestUs,
    numberOfSignificantValueDigits: 3,
  });

/** Latencies in a histogram (HdrHistogram) with a resolution of 0.1 %, from 1 µs to 10 minutes. */
export class Latencies {
  readonly #histogram = empty();

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
    this.#histogram.recordValue(Math.min(longestUs, Math.max(0, Math.round(ms * 1_000))));
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
