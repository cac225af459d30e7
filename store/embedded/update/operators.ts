import { equalityKey } from '../bson/compare.ts';
import { addNumbers, compareNumbers } from '../bson/number.ts';
import { isArray, isNumber, isScalar, toBsonType, type Value } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { UpdateOperator } from '../supported.ts';

/**
 * Computes the new value at a path. As argument `undefined` means a missing field; as result it
 * removes the field.
 */
export type UpdateEffect = (current: Value | undefined, now: Date) => Value | undefined;

export interface Operator {
  /** Whether the operator creates a missing path or leaves it unchanged. */
  readonly creates: boolean;
  /** Whether the operator applies only when an upsert inserts. */
  readonly onInsert?: true;
  parse(operand: Value, path: string): UpdateEffect;
}

const operators: Readonly<Record<UpdateOperator, Operator>> = {
  $set: { creates: true, parse: (operand) => () => operand },
  $setOnInsert: { creates: true, onInsert: true, parse: (operand) => () => operand },
  $unset: { creates: false, parse: () => () => undefined },
  $inc: { creates: true, parse: increment },
  $max: { creates: true, parse: maximum },
  $currentDate: { creates: true, parse: currentDate },
  $addToSet: { creates: true, parse: addToSet },
  $pull: { creates: false, parse: pull },
};

/** @throws {ReplyError} 115 for an unsupported operator. */
export function operatorNamed(name: string): Operator {
  if (isOperatorName(name)) return operators[name];
  throw name.startsWith('$')
    ? notSupported(`the update operator ${name}`)
    : new ReplyError(9, `Unknown modifier: ${name}`);
}

function isOperatorName(name: string): name is UpdateOperator {
  return Object.hasOwn(operators, name);
}

function increment(operand: Value, path: string): UpdateEffect {
  if (!isNumber(operand)) {
    throw new ReplyError(14, `Cannot increment with non-numeric argument: {${path}: ...}`);
  }
  return (current) => {
    if (current === undefined) return operand;
    if (isNumber(current)) return addNumbers(current, operand);
    throw new ReplyError(14, `Cannot apply $inc to '${path}' of type ${toBsonType(current)}`);
  };
}

/** Compares numbers only; MongoDB also compares other types, and values of different types. */
function maximum(operand: Value, path: string): UpdateEffect {
  if (!isNumber(operand)) throw notSupported(`$max of '${path}' with an operand that is no number`);
  return (current) => {
    if (current === undefined) return operand;
    if (isNumber(current)) return compareNumbers(current, operand) < 0 ? operand : current;
    throw notSupported(`$max of '${path}', whose value is no number`);
  };
}

function currentDate(operand: Value, path: string): UpdateEffect {
  if (operand !== true)
    throw notSupported(`$currentDate of '${path}' with an operand other than true`);
  return (_current, now) => now;
}

function addToSet(operand: Value, path: string): UpdateEffect {
  const key = scalarKey('$addToSet', operand);
  return (current) => {
    const elements = current === undefined ? [] : requireArray(current, path, '$addToSet');
    const present = elements.some((element) => equalityKey(element) === key);
    return present ? elements : [...elements, operand];
  };
}

function pull(operand: Value, path: string): UpdateEffect {
  const key = scalarKey('$pull', operand);
  return (current) =>
    current === undefined
      ? current
      : requireArray(current, path, '$pull').filter((element) => equalityKey(element) !== key);
}

/** A document operand would be a condition, or a modifier such as `$each`. */
function scalarKey(operator: string, operand: Value): string {
  if (isScalar(operand)) return equalityKey(operand);
  throw notSupported(`${operator} with a document or an array`);
}

function requireArray(current: Value, path: string, operator: string): readonly Value[] {
  if (isArray(current)) return current;
  throw new ReplyError(
    2,
    `${operator}: the field '${path}' must be an array but is of type ${toBsonType(current)}`,
  );
}
