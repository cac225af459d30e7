/**
 * A simple second implementation of filters and sorting for JSON values. It shares no code with the
 * store.
 */

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

export interface Condition {
  readonly path: string;
  readonly operator: string;
  /** A range operand other than null, an array or an object. */
  readonly operand: Json;
}

const isObject = (value: Json): value is { [field: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Compares scalars. */
export function order(a: Json, b: Json): number {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  // typeof null is 'object'.
  const rank = (value: Json) => ['object', 'number', 'string', 'boolean'].indexOf(typeof value);
  return rank(a) - rank(b) || Number(a) - Number(b);
}

/** Returns all values at a path, with null for each missing value. */
function valuesAt(value: Json, [name, ...rest]: readonly string[]): Json[] {
  if (name === undefined) return Array.isArray(value) ? [...value, value] : [value];
  if (!isObject(value)) return [null];
  const next = value[name] ?? null;
  if (rest.length === 0 || !Array.isArray(next)) return valuesAt(next, rest);
  return next.filter(isObject).flatMap((element) => valuesAt(element, rest));
}

export function matches(document: Json, { path, operator, operand }: Condition): boolean {
  const values = valuesAt(document, path.split('.'));
  const hasAny = (wanted: Json[]) => {
    const texts = wanted.map((each) => JSON.stringify(each));
    return values.some((value) => texts.includes(JSON.stringify(value)));
  };
  const hasOrder = (accepts: (order: number) => boolean) =>
    values.some((value) => typeof value === typeof operand && accepts(order(value, operand)));
  switch (operator) {
    case '$ne':
      return !hasAny([operand]);
    case '$in':
      return Array.isArray(operand) && hasAny(operand);
    case '$gt':
      return hasOrder((order) => order > 0);
    case '$gte':
      return hasOrder((order) => order >= 0);
    case '$lt':
      return hasOrder((order) => order < 0);
    case '$lte':
      return hasOrder((order) => order <= 0);
    default:
      throw new Error(operator);
  }
}
