/** Texts by field, such as `g1a`. */
export type Groups = Readonly<Record<string, string>>;

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
  /**
   * Generations of groups of sources and of folders: `g1a` contains those of the groups `g1a00` to
   * `g1aff`, as records of the group's last two digits and nine base-36 digits of the number. Texts,
   * because 65,536 fields take 66 ms to read, and 256 texts take 1 ms.
   */
  readonly groups?: Groups;
}

/** Purge generations as stored in a project. */
export interface PurgeGenerations {
  /** Absent before the first purge. */
  readonly generations?: Generations;
}

/** A group's length in characters, and that of the field which contains it. */
export const groupLength = 5;
const fieldLength = 3;
const digits = groupLength - fieldLength;
const recordLength = digits + 9;

/**
 * One of 65,536 groups of sources, or of folders: `g` or `f`, and the first 16 bits of the tag. A
 * source belongs to its own group and to those of its parent folders, so a purge of a folder is one
 * number. Bounded, because the numbers are in memory with their project; a purge of a source renders
 * one in 65,536 other images again.
 *
 * @param tag a folder's starts with a slash
 */
export const purgeGroup = (tag: string): string =>
  tag.startsWith('/') ? `f${tag.slice(1, groupLength)}` : `g${tag.slice(0, groupLength - 1)}`;

/** Returns the groups in a field with their numbers. */
const readField = (field: string, text: string): (readonly [group: string, number: number])[] =>
  Array.from({ length: text.length / recordLength }, (_, index) => {
    const record = text.slice(index * recordLength, (index + 1) * recordLength);
    return [field + record.slice(0, digits), Number.parseInt(record.slice(digits), 36)];
  });

function findNumber(groups: Groups, group: string): number {
  const text = groups[group.slice(0, fieldLength)] ?? '';
  const name = group.slice(fieldLength);
  for (let at = 0; at < text.length; at += recordLength) {
    if (!text.startsWith(name, at)) continue;
    return Number.parseInt(text.slice(at + digits, at + recordLength), 36);
  }
  return 0;
}

/** Returns the fields that change when groups get a number. */
export function changeGroups(groups: Groups, changed: readonly string[], number: number): Groups {
  const fields: Record<string, string> = {};
  for (const field of new Set(changed.map((group) => group.slice(0, fieldLength)))) {
    const numbers = new Map(readField(field, groups[field] ?? ''));
    for (const group of changed) if (group.startsWith(field)) numbers.set(group, number);
    fields[field] = [...numbers]
      .map(([group, at]) => group.slice(fieldLength) + at.toString(36).padStart(9, '0'))
      .join('');
  }
  return fields;
}

/** The generation of the images with inputs of some groups; 0 before the first purge. */
export function computeGeneration(
  { generations = {} }: PurgeGenerations,
  groups: readonly string[],
): number {
  const { all = 0, groups: numbers } = generations;
  if (numbers === undefined) return all;
  return Math.max(all, ...groups.map((group) => findNumber(numbers, group)));
}

/** The number of the project's last purge; 0 before the first purge. */
export const lastGeneration = ({ generations }: PurgeGenerations): number => generations?.last ?? 0;

/** Returns the groups of sources purged after a generation; null if other images can be too. */
export function groupsPurgedAfter(
  { generations = {} }: PurgeGenerations,
  number: number,
): string[] | null {
  const { all = 0, groups = {} } = generations;
  const purged = Object.entries(groups)
    .flatMap(([field, text]) => readField(field, text))
    .flatMap(([group, at]) => (at > number ? [group] : []));
  return all > number || purged.some((group) => group.startsWith('f')) ? null : purged;
}

/**
 * Returns a purge's update of a project at the revision that was read.
 * @param tags of the purged sources and folders; null for all images
 * @param number higher than the project's revision, and so than all its purges' numbers
 */
export function purgeUpdate(
  { generations = {} }: PurgeGenerations,
  tags: readonly string[] | null,
  number: number,
) {
  const $currentDate = { purgedAt: true } as const;
  // Every image's generation is now this number.
  if (tags === null) return { $set: { generations: { last: number, all: number } }, $currentDate };
  const changed = changeGroups(generations.groups ?? {}, tags.map(purgeGroup), number);
  const fields = Object.entries(changed).map(([field, text]) => [`groups.${field}`, text] as const);
  const $set = Object.fromEntries(
    [['last', number] as const, ...fields].map(([field, value]) => [`generations.${field}`, value]),
  );
  return { $set, $currentDate };
}
