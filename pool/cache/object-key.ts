/** A cache key begins with this number of digits that identify its project, and as many that identify its source. */
export const keyTagDigits = 16;

/**
 * The key of an image's object in the shared cache: `project/source/key`, so that the images of a project or a
 * source can be listed.
 */
export function objectKey(project: string, key: string): string {
  return `${objectPrefix(project, key.slice(keyTagDigits))}${key}`;
}

/** The prefix of the keys of a project's objects, or of those of one source. */
export function objectPrefix(project: string, sourceTag = ''): string {
  return sourceTag === '' ? `${project}/` : `${project}/${sourceTag.slice(0, keyTagDigits)}/`;
}
