import { compareScalars } from '../bson/compare.ts';
import {
  type Document,
  getField,
  isArray,
  isDocument,
  isNumber,
  isScalar,
  type Scalar,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { type Path, parsePath } from './path.ts';

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

function parseDirection(field: string, value: Value): number {
  if (!isNumber(value)) throw notSupported(`a direction of '${field}' that is not a number`);
  if (value === 1 || value === -1) return value;
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
    key: paths.map((path) => sortKey(getDocument(item), path, 'sorting by')),
  }));
  keyed.sort((a, b) => compareKeys(a.key, b.key, directions));
  return keyed.map(({ item }) => item);
}

/** Compares values field by field. */
export function compareKeys(
  a: readonly Scalar[],
  b: readonly Scalar[],
  directions: readonly number[],
): number {
  for (let i = 0; i < directions.length; i += 1) {
    const order = compareScalars(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return order * (directions[i] ?? 1);
  }
  return 0;
}

/**
 * Returns the single value at a path; a missing field counts as null.
 * @param purpose for the error message
 * @throws {ReplyError} 115 for a document, and for an array within or at the path's end
 */
export function sortKey(document: Document, path: Path, purpose: string): Scalar {
  let value: Value = document;
  for (const component of path) {
    value = isDocument(value) ? (getField(value, component) ?? null) : null;
    if (isArray(value)) throw notSupported(`${purpose} '${path.join('.')}' on an array`);
  }
  if (isScalar(value)) return value;
  throw notSupported(`${purpose} '${path.join('.')}' on a document`);
}
