/** The purges of a project. Each has a number: its Unix time in ms, or more. */
export interface Purges {
  /** The number of the last purge; it never repeats. */
  readonly last: number;
  /**
   * Images with a lower stamp are purged, whatever their source. The number of the last purge of all images, or
   * of the latest purge whose sources are no longer remembered.
   */
  readonly all: number;
  /** The number of the last purge of each source, by its tag. */
  readonly sources: Readonly<Record<string, number>>;
}

/** Bounded, because they are in memory with their project and sent with each of its changes. */
export const maxPurgedSources = 1_000;

/**
 * The purges of a project after another one.
 *
 * @param tags of the purged sources; null for all images of the project
 * @param now Unix ms. It makes the number new even after the store was restored from a backup; the last number
 *   makes it new after the clock was set back.
 */
export function withPurge(
  { last, all, sources }: Purges = { last: 0, all: 0, sources: {} },
  tags: readonly string[] | null,
  now: number,
): Purges {
  const number = Math.max(last + 1, now);
  if (tags === null) return { last: number, all: number, sources: {} };
  const purged = new Map(Object.entries(sources));
  for (const tag of tags) purged.set(tag, number);
  const newestFirst = [...purged].sort(([, a], [, b]) => b - a);
  const forgotten = newestFirst[maxPurgedSources]?.[1] ?? 0;
  return {
    last: number,
    all: Math.max(all, forgotten),
    // `all` also covers the other sources of the forgotten purge.
    sources: Object.fromEntries(newestFirst.filter(([, at]) => at > forgotten)),
  };
}

/**
 * Images in use with a lower stamp get a new one, long before `all` exceeds their stamp: half of the remembered
 * purges must follow first. 0 while few are remembered.
 */
export function renewBelow({ sources }: Purges): number {
  const numbers = Object.values(sources).sort((a, b) => b - a);
  return numbers[maxPurgedSources / 2] ?? 0;
}
