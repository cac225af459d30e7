import { compareScalars } from '../bson/compare.ts';
import {
  type Document,
  isNumber,
  isScalar,
  type Scalar,
  safeInteger,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { type Path, parsePath, valueAt } from './path.ts';

export interface SortOrder {
  readonly paths: readonly Path[];
  /** 1 ascending, -1 descending; same order as the paths. */
  readonly directions: readonly number[];
}

/** @throws {ReplyError} 2 for a direction that is not 1 or -1, 115 for operators such as `$natural`. */
export function parseSort(sort: Document): SortOrder {
  const fields = Object.entries(sort);
  for (const [field] of fields) {
    if (field.startsWith('$')) throw notSupported(`sorting by ${field}`);
  }
  return {
    paths: fields.map(([field]) => parsePath(field)),
    directions: fields.map(([field, value]) => parseDirection(field, value)),
  };
}

/** Parses the direction in a sort or an index key. */
export function parseDirection(field: string, value: Value): number {
  if (!isNumber(value)) throw notSupported(`a direction of '${field}' that is not a number`);
  const direction = safeInteger(value);
  if (direction === 1 || direction === -1) return direction;
  throw new ReplyError(2, `the direction of '${field}' must be 1 or -1`);
}

/**
 * Returns a sorted copy of the list. The sort is stable.
 * @throws {ReplyError} 115 for arrays or documents, because the store does not order them
 */
export function sortDocuments<T>(
  items: readonly T[],
  getDocument: (item: T) => Document,
  { paths, directions }: SortOrder,
): T[] {
  if (paths.length === 0) return [...items];
  const keyed = items.map((item) => ({
    item,
    key: paths.map((path) => sortKey(getDocument(item), path)),
  }));
  keyed.sort((a, b) => {
    for (const [i, direction] of directions.entries()) {
      const order = compareScalars(a.key[i] ?? null, b.key[i] ?? null);
      if (order !== 0) return order * direction;
    }
    return 0;
  });
  return keyed.map(({ item }) => item);
}

function sortKey(document: Document, path: Path): Scalar {
  const value = valueAt(document, path, 'sorting by');
  if (isScalar(value)) return value;
  throw notSupported(`sorting by '${path.join('.')}' over a document`);
}
