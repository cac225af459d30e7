/**
 * A project's purges. Each purge gets a number higher than all before; the last purge's number is
 * the generation of everything that it covers. An image's key contains the highest generation among
 * its project and inputs, so an image from an earlier generation is never found.
 */
export interface Generations {
  /** The number of the last purge. */
  readonly last?: number;
  /** Generation of all the project's images. */
  readonly all?: number;
  /** Generations of source groups, by group. */
  readonly groups?: Readonly<Record<string, number>>;
}

/** Purge generations as stored in a project. */
export interface PurgeGenerations {
  /** Absent before the first purge. */
  readonly generations?: Generations;
}

/**
 * One of 1,024 groups of sources, as three hexadecimal digits: the first ten bits of a source's
 * tag. Bounded, because the numbers are in memory with their project; a purge of a source renders a
 * thousandth of the other images again.
 */
export function sourceGroup(tag: string): string {
  const digits = Number.parseInt(tag.slice(0, 3), 16) & 0xffc;
  return digits.toString(16).padStart(3, '0');
}

/** Returns a group's field name: a path component cannot be a number. */
const toField = (group: string): string => `g${group}`;

/** The generation of the images with inputs of some groups; 0 before the first purge. */
export function computeGeneration(
  { generations = {} }: PurgeGenerations,
  groups: readonly string[],
): number {
  const { all = 0, groups: numbers = {} } = generations;
  return Math.max(all, ...groups.map((group) => numbers[toField(group)] ?? 0));
}

/** The number of the project's last purge; 0 before the first purge. */
export const lastGeneration = ({ generations }: PurgeGenerations): number => generations?.last ?? 0;

/** Returns the groups purged after a generation; null for all images. */
export function groupsPurgedAfter(
  { generations = {} }: PurgeGenerations,
  number: number,
): string[] | null {
  const { all = 0, groups = {} } = generations;
  if (all > number) return null;
  const purged = Object.entries(groups).filter(([, at]) => at > number);
  return purged.map(([field]) => field.slice(1));
}

/**
 * Returns a purge's update.
 * @param tags of the purged sources; null for all images
 * @param number higher than the project's revision, and so than all its purges' numbers
 */
export function purgeUpdate(tags: readonly string[] | null, number: number) {
  const fields = tags?.map((tag) => `groups.${toField(sourceGroup(tag))}`) ?? ['all'];
  const purged = ['last', ...fields].map((field) => [`generations.${field}`, number]);
  return { $max: Object.fromEntries(purged), $currentDate: { purgedAt: true } } as const;
}
