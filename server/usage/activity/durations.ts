/** Each bucket ends 15% above the previous bucket, so that a percentile deviates by at most 8%. */
const growth = 1.15;
/** The last bucket ends after 25 minutes. */
const maxBucket = 102;

/** Number of durations by bucket. */
export type DurationCounts = Map<number, number>;

/** @param ms at least 0 */
export function addDuration(counts: DurationCounts, ms: number): void {
  const bucket = ms <= 1 ? 0 : Math.min(maxBucket, Math.ceil(Math.log(ms) / Math.log(growth)));
  addToBucket(counts, bucket, 1);
}

export function addToBucket(counts: DurationCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

/**
 * Returns the duration that a fraction of all durations does not exceed, in ms: its bucket's
 * middle, or null if there are no durations.
 */
export function percentile(counts: DurationCounts, fraction: number): number | null {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= fraction * total) return Math.round(growth ** (bucket - 0.5));
  }
  return null;
}
