import { compareValues } from '../bson/compare.ts';
import { equalityKey } from '../bson/key.ts';
import { addNumbers } from '../bson/number.ts';
import { type Document, isArray, isDocument, isNumber, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { all, BARE, isOperators, parseCondition, parseFilter } from '../query/filter.ts';
import { compile, compileBare } from '../query/match.ts';
import { typeAlias } from '../query/type.ts';

/**
 * What a modifier makes of the value at its path. `undefined` in: there is none; out: there shall
 * be none.
 */
export type Effect = (current: Value | undefined, now: Date) => Value | undefined;

export interface Modifier {
  /** Whether the path is made where it is missing; without, a missing path changes nothing. */
  readonly creates: boolean;
  /** Whether it only takes part when an upsert inserts. */
  readonly onInsert?: true;
  parse(operand: Value, path: string): Effect;
}

/** The update operators that are offered. */
export const MODIFIERS: { readonly [operator: string]: Modifier } = {
  $set: { creates: true, parse: (operand) => () => operand },
  $setOnInsert: { creates: true, onInsert: true, parse: (operand) => () => operand },
  $unset: { creates: false, parse: () => () => undefined },
  $inc: { creates: true, parse: increment },
  $min: { creates: true, parse: (operand) => extreme(operand, (order) => order < 0) },
  $max: { creates: true, parse: (operand) => extreme(operand, (order) => order > 0) },
  $currentDate: { creates: true, parse: currentDate },
  $push: { creates: true, parse: push },
  $addToSet: { creates: true, parse: addToSet },
  $pull: { creates: false, parse: pull },
};

function increment(operand: Value, path: string): Effect {
  if (!isNumber(operand)) {
    throw new CommandError(14, `Cannot increment with non-numeric argument: {${path}: ...}`);
  }
  return (current) => {
    if (current === undefined) return operand;
    if (isNumber(current)) return addNumbers(current, operand);
    throw new CommandError(
      14,
      `Cannot apply $inc to the field '${path}' of non-numeric type ${typeAlias(current)}`,
    );
  };
}

function extreme(operand: Value, wins: (order: number) => boolean): Effect {
  return (current) =>
    current === undefined || wins(compareValues(operand, current)) ? operand : current;
}

function currentDate(operand: Value, path: string): Effect {
  if (isDocument(operand) && Object.keys(operand).join() === '$type') {
    if (operand['$type'] === 'timestamp') throw notSupported('$currentDate with a timestamp');
    if (operand['$type'] === 'date') return (_current, now) => now;
  }
  if (typeof operand === 'boolean') return (_current, now) => now;
  throw new CommandError(2, `$currentDate for '${path}' needs true or {$type: 'date'}`);
}

function push(operand: Value, path: string): Effect {
  const values = eachOf('$push', operand);
  return (current) => [...arrayAt(current, path, '$push'), ...values];
}

function addToSet(operand: Value, path: string): Effect {
  const values = eachOf('$addToSet', operand);
  return (current) => {
    const result = [...arrayAt(current, path, '$addToSet')];
    const present = new Set(result.map(equalityKey));
    for (const value of values) {
      const key = equalityKey(value);
      if (!present.has(key)) result.push(value);
      present.add(key);
    }
    return result;
  };
}

function pull(operand: Value, path: string): Effect {
  const pulled = pullCondition(operand);
  return (current) => {
    if (current === undefined) return current;
    if (!isArray(current)) {
      throw new CommandError(2, `Cannot apply $pull to a non-array value at '${path}'`);
    }
    const kept = current.filter((element) => !pulled(element));
    return kept.length === current.length ? current : kept;
  };
}

function pullCondition(operand: Value): (element: Value) => boolean {
  // Operators ask about each element, a document about elements that are documents.
  if (isOperators(operand) || (typeof operand === 'object' && typeAlias(operand) === 'regex')) {
    return compileBare(all(parseCondition(BARE, operand)));
  }
  if (isDocument(operand)) {
    const passes = compile(parseFilter(operand));
    return (element) => isDocument(element) && passes(element);
  }
  const key = equalityKey(operand);
  return (element) => equalityKey(element) === key;
}

function eachOf(operator: string, operand: Value): readonly Value[] {
  if (!isOperators(operand)) return [operand];
  const each = eachOperand(operator, operand);
  if (isArray(each)) return each;
  throw new CommandError(14, `The argument to $each in ${operator} must be an array`);
}

function eachOperand(operator: string, operand: Document): Value | undefined {
  for (const clause of Object.keys(operand)) {
    if (clause === '$each') continue;
    throw clause.startsWith('$')
      ? notSupported(`${clause} in ${operator}`)
      : new CommandError(2, `Unrecognized clause in ${operator}: ${clause}`);
  }
  return operand['$each'];
}

function arrayAt(current: Value | undefined, path: string, operator: string): readonly Value[] {
  if (current === undefined) return [];
  if (isArray(current)) return current;
  throw new CommandError(
    2,
    `${operator}: the field '${path}' must be an array but is of type ${typeAlias(current)}`,
  );
}
