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

/** The number of the last purge of a source; 0 for none. */
const numberOf = ({ all, sources }: Purges, tag: string): number =>
  Math.max(all, sources[tag] ?? 0);

/** What a project's purges concern that other ones do not. */
function purgedOnlyBy(own: Purges, other: Purges) {
  const tags = Object.keys(own.sources).filter((tag) => numberOf(own, tag) > numberOf(other, tag));
  return { all: own.all > other.all, tags };
}

/**
 * The purges of a project in a store that gets those of another store too. Where both have been used, the purges
 * of the other one get a new number: an image may have been fetched since, with the number of a later own purge.
 *
 * @param now Unix ms
 */
export function joinPurges(
  own: Purges | undefined,
  other: Purges | undefined,
  now: number,
): Purges | undefined {
  if (own === undefined || other === undefined) return own ?? other;
  const fresh = purgedOnlyBy(other, own);
  if (!fresh.all && fresh.tags.length === 0) return own;
  const mine = purgedOnlyBy(own, other);
  const isLater =
    (!fresh.all || other.all > own.last) &&
    fresh.tags.every((tag) => numberOf(other, tag) > own.last);
  if (!mine.all && mine.tags.length === 0 && isLater) return other;
  return withPurge(own, fresh.all ? null : fresh.tags, now);
}
