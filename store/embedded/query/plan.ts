import { BSONRegExp } from 'bson';
import { isArray, type Value } from '../bson/value.ts';
import type { Filter } from './filter.ts';
import type { Path } from './path.ts';

/** Values of which a document must have one at the path to pass the filter. */
export interface Requirement {
  readonly path: Path;
  readonly values: readonly Value[];
}

/** The equalities that every passing document fulfils: those of the filter and of its `$and`s. */
export function requirementsOf(filter: Filter): Requirement[] {
  if (filter.kind === 'and') return filter.filters.flatMap(requirementsOf);
  if (filter.kind !== 'field') return [];
  const { path, test } = filter;
  if (test.is === 'equal') return [{ path, values: [test.value] }];
  if (test.is === 'oneOf' && test.tests.length === 0) return [{ path, values: test.values }];
  return [];
}

/**
 * The entries of an index under which a value may be found. An array is found as an element of
 * another, or by its own first element, since an index holds the elements of arrays.
 */
export function indexedForms(value: Value): (Value | undefined)[] {
  return isArray(value) ? [value, value[0]] : [value];
}

/**
 * The single values that an upsert takes over from the filter: equalities, also as `$in` or `$or`
 * with one branch only.
 */
export function equalitiesOf(filter: Filter): { path: Path; value: Value }[] {
  if (filter.kind === 'and') return filter.filters.flatMap(equalitiesOf);
  if (filter.kind === 'or') {
    const [only, ...others] = filter.filters;
    return only !== undefined && others.length === 0 ? equalitiesOf(only) : [];
  }
  if (filter.kind !== 'field') return [];
  const { path, test } = filter;
  if (test.is === 'equal') return [{ path, value: test.value }];
  const [only, ...others] = test.is === 'oneOf' && test.tests.length === 0 ? test.values : [];
  return only === undefined || others.length > 0 || only instanceof BSONRegExp
    ? []
    : [{ path, value: only }];
}
