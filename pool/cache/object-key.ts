/** A cache key starts with this many digits for its project, and as many for its source. */
export const keyTagDigits = 16;

/**
 * Returns the key of an image's object in the shared cache: `project/source/key`, so that the
 * images of a project or a source can be listed.
 */
export function objectKey(project: string, key: string): string {
  return `${project}/${key.slice(keyTagDigits, 2 * keyTagDigits)}/${key}`;
}
