import { BSONSymbol, MaxKey, MinKey } from 'bson';
import { compareValues, typeRank } from '../bson/compare.ts';
import { equalityKey } from '../bson/key.ts';
import { isNaNValue } from '../bson/number.ts';
import { type Document, isArray, isDocument, isNumber, type Value } from '../bson/value.ts';
import { BARE, type Filter, type Test } from './filter.ts';
import { type Path, reachesAny } from './path.ts';

type Holds = (value: Value | undefined) => boolean;

/** Turns a filter into a function that says whether a document passes it. */
export function compile(filter: Filter): (document: Document) => boolean {
  return combine(
    filter,
    (path, holds, whole) => (document: Document) => reachesAny(document, path, holds, whole),
  );
}

/** As {@link compile}, for a filter about a bare value; an array stands for its elements too. */
export function compileBare(filter: Filter): (value: Value) => boolean {
  const passes = compile(filter);
  const [name = ''] = BARE;
  return (value) => passes({ [name]: value });
}

function combine<Subject>(
  filter: Filter,
  leaf: (path: Path, holds: Holds, whole: boolean) => (subject: Subject) => boolean,
): (subject: Subject) => boolean {
  if (filter.kind === 'field') {
    const { path, test } = filter;
    const whole = test.is === 'present' || test.is === 'sized' || test.is === 'withElement';
    return leaf(path, compileTest(test), whole);
  }
  const filters = filter.filters.map((inner) => combine(inner, leaf));
  switch (filter.kind) {
    case 'and':
      return (subject) => filters.every((passes) => passes(subject));
    case 'or':
      return (subject) => filters.some((passes) => passes(subject));
    case 'nor':
      return (subject) => !filters.some((passes) => passes(subject));
  }
}

function compileTest(test: Test): Holds {
  switch (test.is) {
    case 'equal':
      return (value) => ordered(value, test.value, (order) => order === 0, true);
    case 'below':
      return (value) => ordered(value, test.value, (order) => order < 0, false);
    case 'belowOrEqual':
      return (value) => ordered(value, test.value, (order) => order <= 0, true);
    case 'above':
      return (value) => ordered(value, test.value, (order) => order > 0, false);
    case 'aboveOrEqual':
      return (value) => ordered(value, test.value, (order) => order >= 0, true);
    case 'oneOf':
      return oneOf(test.values, test.tests.map(compileTest));
    case 'match':
      return (value) =>
        typeof value === 'string' || value instanceof BSONSymbol
          ? test.pattern.test(value.toString())
          : value !== undefined && compareValues(value, test.source) === 0;
    case 'type':
      return (value) => value !== undefined && test.types.some((is) => is(value));
    case 'present':
      return (value) => value !== undefined;
    case 'sized':
      return (value) => isArray(value) && value.length === test.size;
    case 'withElement':
      return withElement(test.filter, test.bare);
  }
}

/**
 * Comparison in a filter: only within one type's rank, with three exceptions: null and a missing
 * value are alike, MinKey and MaxKey compare with everything, and NaN compares with NaN alone.
 *
 * @param reflexive whether the comparison holds for two equal values
 */
function ordered(
  value: Value | undefined,
  operand: Value,
  accepts: (order: number) => boolean,
  reflexive: boolean,
): boolean {
  if (value === undefined && operand === null) return reflexive;
  if (operand instanceof MinKey || operand instanceof MaxKey) {
    return accepts(compareValues(value === undefined ? null : value, operand));
  }
  if (typeRank(value) !== typeRank(operand)) return false;
  if (isNumber(value) && isNumber(operand) && (isNaNValue(value) || isNaNValue(operand))) {
    return reflexive && isNaNValue(value) && isNaNValue(operand);
  }
  return accepts(compareValues(value, operand));
}

function oneOf(values: readonly Value[], tests: readonly Holds[]): Holds {
  const keys = new Set(values.map(equalityKey));
  const nullToo = keys.has(equalityKey(null));
  return (value) =>
    (value === undefined ? nullToo : keys.has(equalityKey(value))) ||
    tests.some((holds) => holds(value));
}

function withElement(filter: Filter, bare: boolean): Holds {
  if (bare) {
    // Unlike elsewhere an array among the elements is one value here.
    const passes = combine<Value>(filter, (_path, holds) => holds);
    return (value) => isArray(value) && value.some(passes);
  }
  const passes = compile(filter);
  return (value) =>
    isArray(value) &&
    // An array among the elements counts as a document without any named field.
    value.some((element) => passes(isDocument(element) ? element : {}) && isContainer(element));
}

function isContainer(value: Value): boolean {
  return isDocument(value) || isArray(value);
}
