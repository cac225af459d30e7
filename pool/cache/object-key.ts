/** Digits of a cache key that name its project, and as many after them that name its source. */
export const keyTagDigits = 16;

/**
 * The object of a cache key in the shared cache, so that a listing finds the images of a project or a source:
 * `project/source/key`.
 */
export function objectKey(project: string, key: string): string {
  return `${objectPrefix(project, key.slice(keyTagDigits))}${key}`;
}

/** The beginning of the keys of a project's objects, of one source if its tag is given. */
export function objectPrefix(project: string, sourceTag = ''): string {
  return sourceTag === '' ? `${project}/` : `${project}/${sourceTag.slice(0, keyTagDigits)}/`;
}
