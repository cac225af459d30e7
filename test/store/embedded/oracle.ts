// A simple second implementation of filters and sorting, for JSON values: without indexes, early exits
// and parsed forms. It shares no code with the store.

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

const kindOrder = ['empty', 'null', 'number', 'string', 'object', 'array', 'boolean'];

function kind(value: Json | undefined): string {
  if (value === undefined) return 'empty';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

export function order(a: Json | undefined, b: Json | undefined): number {
  const byKind = kindOrder.indexOf(kind(a)) - kindOrder.indexOf(kind(b));
  if (byKind !== 0) return byKind;
  if (Array.isArray(a) && Array.isArray(b)) {
    return firstDifference(
      a.map((value, i) => order(value, b[i])),
      a.length - b.length,
    );
  }
  if (kind(a) === 'object' && kind(b) === 'object') {
    const [left, right] = [Object.entries(a ?? {}), Object.entries(b ?? {})];
    const differences = left.map(([name, value], i) => {
      const [otherName, other] = right[i] ?? [];
      if (otherName === undefined) return 1;
      const ranks = kindOrder.indexOf(kind(value)) - kindOrder.indexOf(kind(other));
      return ranks || (name < otherName ? -1 : name > otherName ? 1 : order(value, other));
    });
    return firstDifference(differences, left.length - right.length);
  }
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  if (a === b || a === null || b === null || a === undefined || b === undefined) return 0;
  return a < b ? -1 : 1;
}

function firstDifference(differences: number[], otherwise: number): number {
  return differences.find((difference) => difference !== 0) ?? otherwise;
}

/** All values at a path; `undefined` for each missing one. */
export function reached(document: Json | undefined, path: string[]): (Json | undefined)[] {
  const [name, ...rest] = path;
  if (name === undefined) {
    return Array.isArray(document) ? [...document, document] : [document];
  }
  if (kind(document) !== 'object') return [undefined];
  const next = Object.entries(document ?? {}).find(([field]) => field === name)?.[1];
  if (rest.length === 0 || !Array.isArray(next)) return reached(next, rest);
  return next.filter((element) => kind(element) === 'object').flatMap((e) => reached(e, rest));
}

export type Condition = { path: string; operator: string; operand: Json };

export function passes(document: Json, { path, operator, operand }: Condition): boolean {
  const values = reached(document, path.split('.'));
  const equals = (value: Json | undefined, other: Json) =>
    order(value === undefined ? null : value, other) === 0;
  const comparable = (value: Json | undefined) =>
    kind(value === undefined ? null : value) === kind(operand);
  const orders = values
    .filter(comparable)
    .map((value) => order(value === undefined ? null : value, operand));
  const list = Array.isArray(operand) ? operand : [];
  switch (operator) {
    case '$eq':
      return values.some((value) => equals(value, operand));
    case '$ne':
      return !values.some((value) => equals(value, operand));
    case '$gt':
      return orders.some((o) => o > 0);
    case '$gte':
      return orders.some((o) => o >= 0);
    case '$lt':
      return orders.some((o) => o < 0);
    case '$lte':
      return orders.some((o) => o <= 0);
    case '$in':
      return values.some((value) => list.some((other) => equals(value, other)));
    default:
      throw new Error(operator);
  }
}
