import { type Document, getField, isArray, isDocument, type Value } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';

/** A dotted path, split: `a.b` is `['a', 'b']`. */
export type Path = readonly string[];

/**
 * @throws {ReplyError} 56 for an empty component, 115 for a component that could be an array
 *   index (field name or index, depending on the document) or is a positional operator, 52 for any
 *   other component with a leading dollar sign.
 */
export function parsePath(dotted: string): Path {
  const path = dotted.split('.');
  for (const component of path) {
    if (component === '') {
      throw new ReplyError(56, `the path '${dotted}' has an empty field name`);
    }
    if (component === '$' || component.startsWith('$[')) {
      throw notSupported(`the positional operator in the path '${dotted}'`);
    }
    if (component.startsWith('$')) {
      throw new ReplyError(52, `the path '${dotted}' has a field name that begins with '$'`);
    }
    if (/^\d+$/.test(component)) throw notSupported(`the number '${component}' in a path`);
  }
  return path;
}

/**
 * Returns whether any value at the path passes the test. Descends into the documents of arrays
 * before the path's end; for an array at the end, tests its elements and the array itself. A
 * missing field counts as null.
 */
export function someValueAt(
  document: Document,
  path: Path,
  test: (value: Value) => boolean,
  depth = 0,
): boolean {
  const value = getField(document, path[depth] ?? '') ?? null;
  if (depth === path.length - 1) return (isArray(value) && value.some(test)) || test(value);
  if (isDocument(value)) return someValueAt(value, path, test, depth + 1);
  if (!isArray(value)) return test(null);
  return value.some(
    (element) => isDocument(element) && someValueAt(element, path, test, depth + 1),
  );
}

/** Returns whether a document contains the field at a path, or an array before the path's end. */
export function exists(document: Document, path: Path): boolean {
  let value: Value | undefined = document;
  for (const component of path) {
    value = isDocument(value) ? getField(value, component) : undefined;
    if (value === undefined) return false;
    if (isArray(value)) return true;
  }
  return true;
}
