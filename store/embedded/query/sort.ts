import { wholeNumber } from '../bson/number.ts';
import { type Document, isNumber } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { compareTuples, type IndexTuple, indexTuples, type Path, parsePath } from './path.ts';

export interface SortOrder {
  readonly paths: readonly Path[];
  /** 1 ascending, -1 descending; one for each path. */
  readonly directions: readonly number[];
}

/** @throws {CommandError} 2 for a direction that is not 1 or -1, 115 for `$meta` and `$natural`. */
export function parseSort(sort: Document): SortOrder {
  const paths: Path[] = [];
  const directions: number[] = [];
  for (const [field, value] of Object.entries(sort)) {
    if (field.startsWith('$')) throw notSupported(`sorting by ${field}`);
    const direction = isNumber(value) ? wholeNumber(value) : null;
    if (direction !== 1 && direction !== -1) {
      if (isNumber(value))
        throw new CommandError(2, `$sort direction of '${field}' must be 1 or -1`);
      throw notSupported(`sorting '${field}' by an expression`);
    }
    paths.push(parsePath(field));
    directions.push(direction);
  }
  return { paths, directions };
}

/**
 * Sorted copies of the list's order; equal documents keep theirs. An array sorts by its lowest
 * element ascending and by its highest descending.
 * @throws {CommandError} 171 when two paths meet different arrays.
 */
export function sortDocuments<T>(
  items: readonly T[],
  documentOf: (item: T) => Document,
  order: SortOrder,
): T[] {
  if (order.paths.length === 0) return [...items];
  const keyed = items.map((item) => ({ item, key: sortKey(documentOf(item), order) }));
  keyed.sort((a, b) => compareTuples(a.key, b.key, order.directions));
  return keyed.map(({ item }) => item);
}

function sortKey(document: Document, { paths, directions }: SortOrder): IndexTuple {
  let least: IndexTuple | undefined;
  for (const tuple of indexTuples(document, paths)) {
    if (least === undefined || compareTuples(tuple, least, directions) < 0) least = tuple;
  }
  return least ?? [];
}
