import type { NameCount, StoredActivity, StoredFailure } from '../../../store/activity.ts';
import { addToBucket, type DurationCounts } from './durations.ts';
import { failureKey, maxFailures } from './recent-failures.ts';
import { type ActivityCounts, countFields, maxTopNames, noActivity } from './slice.ts';

/** The sums over processes and intervals. */
export interface ActivitySum {
  readonly counts: ActivityCounts;
  readonly durations: DurationCounts;
  readonly sources: readonly NameCount[];
  readonly variants: readonly NameCount[];
}

export function sumOfActivity(parts: readonly StoredActivity[]): ActivitySum {
  const counts = noActivity();
  const durations: DurationCounts = new Map();
  for (const part of parts) {
    for (const field of countFields) counts[field] += part.counts[field] ?? 0;
    for (const { bucket, count } of part.durations) addToBucket(durations, bucket, count);
  }
  const sources = findTop(parts.map(({ sources }) => sources));
  const variants = findTop(parts.map(({ variants }) => variants));
  return { counts, durations, sources, variants };
}

function findTop(lists: readonly (readonly NameCount[])[]): readonly NameCount[] {
  const sums = new Map<string, number>();
  for (const { name, count } of lists.flat()) sums.set(name, (sums.get(name) ?? 0) + count);
  const counts = [...sums].map(([name, count]) => ({ name, count }));
  return counts.sort((a, b) => b.count - a.count).slice(0, maxTopNames);
}

/** The last failures of all parts, the latest one first. */
export function lastFailures(parts: readonly StoredActivity[]): readonly StoredFailure[] {
  const sums = new Map<string, StoredFailure>();
  for (const failure of parts.flatMap(({ failures }) => failures)) {
    const key = failureKey(failure);
    const known = sums.get(key) ?? { ...failure, count: 0 };
    const latest = known.at > failure.at ? known : failure;
    sums.set(key, { ...latest, count: failure.count + known.count });
  }
  const latest = [...sums.values()].reverse();
  return latest.sort((a, b) => b.at - a.at).slice(0, maxFailures);
}
