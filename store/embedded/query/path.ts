import { compareValues } from '../bson/compare.ts';
import { equalityKey } from '../bson/key.ts';
import { type Document, fieldOf, isArray, isDocument, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';

/** A dotted path, split: `a.b` is `['a', 'b']`. */
export type Path = readonly string[];

/**
 * @throws {CommandError} 56 for an empty component, 115 for one that could be an array's index
 *   (a field name or an index, depending on the document) or is a positional operator, 52 for
 *   another one with a leading dollar sign.
 */
export function parsePath(dotted: string): Path {
  const path = dotted.split('.');
  for (const component of path) {
    if (component === '')
      throw new CommandError(56, `the path '${dotted}' has an empty field name`);
    if (component === '$' || component.startsWith('$[')) {
      throw notSupported(`the positional operator in the path '${dotted}'`);
    }
    if (component.startsWith('$')) {
      throw new CommandError(52, `the path '${dotted}' has a field name that begins with '$'`);
    }
    if (/^\d+$/.test(component)) throw notSupported(`the number '${component}' in a path`);
  }
  return path;
}

/**
 * Whether the test holds for any value that the path reaches. On the way arrays stand for their
 * documents; at the end an array stands for its elements and, after them, for itself. A path that
 * leads nowhere reaches `undefined` once.
 *
 * @param whole do not take the last array apart, as `$exists`, `$size` and `$elemMatch` have it
 */
export function reachesAny(
  document: Document,
  path: Path,
  test: (value: Value | undefined) => boolean,
  whole = false,
  depth = 0,
): boolean {
  const value = fieldOf(document, path[depth] ?? '');
  if (depth === path.length - 1) {
    return (!whole && isArray(value) && value.some(test)) || test(value);
  }
  if (isDocument(value)) return reachesAny(value, path, test, whole, depth + 1);
  if (isArray(value)) {
    return value.some(
      (element) => isDocument(element) && reachesAny(element, path, test, whole, depth + 1),
    );
  }
  return test(undefined);
}

/** One index entry of a document: a value for each path. An empty array counts as `undefined`. */
export type IndexTuple = readonly (Value | undefined)[];

/**
 * The index entries of a document, each once: one for every element where a path meets an array.
 * What is missing counts as null.
 * @throws {CommandError} 171 when two paths meet different arrays.
 */
export function indexTuples(document: Document, paths: readonly Path[]): IndexTuple[] {
  const tuples = expand(paths.map((path) => walk(document, path, 0)));
  if (tuples.length < 2) return tuples;
  const distinct = new Map<string, IndexTuple>();
  for (const tuple of tuples) distinct.set(tupleKey(tuple), tuple);
  return [...distinct.values()];
}

export function tupleKey(tuple: IndexTuple): string {
  return tuple.map(equalityKey).join('');
}

export function compareTuples(left: IndexTuple, right: IndexTuple, directions: readonly number[]) {
  for (let i = 0; i < directions.length; i += 1) {
    const order = compareValues(left[i], right[i]);
    if (order !== 0) return order * (directions[i] ?? 1);
  }
  return 0;
}

/** Where a path has come to: at its end with a value, or at an array with some path left. */
type Position =
  | { readonly at: 'end'; readonly value: Value | undefined }
  | {
      readonly at: 'array';
      readonly array: readonly Value[];
      readonly path: Path;
      readonly depth: number;
    };

function walk(from: Document, path: Path, start: number): Position {
  let value: Value | undefined = from;
  for (let depth = start; depth < path.length; depth += 1) {
    if (isArray(value)) return { at: 'array', array: value, path, depth };
    value = isDocument(value) ? fieldOf(value, path[depth] ?? '') : undefined;
  }
  if (isArray(value)) return { at: 'array', array: value, path, depth: path.length };
  return { at: 'end', value: value === undefined ? null : value };
}

function expand(positions: readonly Position[]): IndexTuple[] {
  const first = positions.find((position) => position.at === 'array');
  if (first === undefined) {
    return [positions.map((position) => (position.at === 'end' ? position.value : null))];
  }
  const { array } = first;
  for (const position of positions) {
    if (position.at === 'array' && position.array !== array) {
      throw new CommandError(171, 'cannot index parallel arrays');
    }
  }
  // An empty array has one entry too, as if it held one value of a type below null.
  const elements = array.length === 0 ? [undefined] : array;
  return elements.flatMap((element) =>
    expand(
      positions.map((position) => (position.at === 'end' ? position : step(position, element))),
    ),
  );
}

function step(position: Position & { at: 'array' }, element: Value | undefined): Position {
  // An array inside an array is an entry as it is.
  if (position.depth === position.path.length) return { at: 'end', value: element };
  if (isDocument(element)) return walk(element, position.path, position.depth);
  return { at: 'end', value: null };
}
