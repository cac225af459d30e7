import { ObjectId } from 'bson';
import { compareScalars, compareText, equalityKey } from '../bson/compare.ts';
import {
  type Document,
  getField,
  isArray,
  isDocument,
  isNumber,
  isScalar,
  setField,
  toBsonType,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { UpdateOperator } from '../supported.ts';
import type { Filter } from './filter.ts';
import { type Path, parsePath } from './path.ts';

interface Change {
  readonly path: Path;
  readonly effect: UpdateEffect;
  readonly creates: boolean;
  readonly onInsert: boolean;
}

export type Update = readonly Change[];

/**
 * @throws {ReplyError} 9 for a field next to operators, 40 for conflicting paths, 115 for a
 *   replacement or an unsupported operator.
 */
export function parseUpdate(update: Document): Update {
  const [first = ''] = Object.keys(update);
  if (!first.startsWith('$')) throw notSupported('a replacement of a whole document');
  return sortedByPath(
    Object.entries(update).flatMap(([name, fields]) => {
      if (!isOperatorName(name)) {
        if (name.startsWith('$')) throw notSupported(`the update operator ${name}`);
        throw new ReplyError(9, `Unknown modifier: ${name}`);
      }
      if (!isDocument(fields)) throw new ReplyError(9, `${name} needs an object of fields`);
      return Object.entries(fields).map(([field, operand]) => ({
        path: parsePath(field),
        effect: operators[name].parse(operand, field),
        creates: operators[name].creates,
        onInsert: name === '$setOnInsert',
      }));
    }),
  );
}

/** Sorts by path, because MongoDB adds new fields in path order. */
function sortedByPath(changes: Change[]): Update {
  changes.sort((a, b) => comparePaths(a.path, b.path));
  changes.forEach(({ path }, i) => {
    // A path sorts directly before the paths within it.
    const before = changes[i - 1]?.path;
    if (before?.every((component, depth) => component === path[depth])) {
      const [within, at] = [path.join('.'), before.join('.')];
      throw new ReplyError(40, `Updating the path '${within}' would create a conflict at '${at}'`);
    }
  });
  return changes;
}

function comparePaths(left: Path, right: Path): number {
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const order = compareText(left[i] ?? '', right[i] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/**
 * Returns the updated document without changing the argument.
 * @throws {ReplyError} 66 if `_id` would change, 28 if a path leads through a scalar.
 */
export function applyUpdate(update: Update, document: Document, now: Date): Document {
  return applied(
    update.filter(({ onInsert }) => !onInsert),
    document,
    now,
  );
}

/**
 * Returns the document that an upsert inserts if no document matches: the filter's equality
 * conditions, then the update.
 * @throws {ReplyError} 40 if the filter names a path and another path within it, 66 if `_id`
 *   would differ from the filter's, 115 for `$in` in the filter, where MongoDB uses a single value.
 */
export function upsertedDocument(filter: Filter, update: Update, now: Date): Document {
  const equalities = filter.requirements.map(({ path, values: [value = null], operator }) => {
    if (operator !== '$eq') throw notSupported(`${operator} in the filter of an upsert`);
    return { path, effect: () => value, creates: true, onInsert: false };
  });
  const document = applied(update, applied(sortedByPath(equalities), {}, now), now);
  const identity = getField(document, '_id') ?? new ObjectId();
  return { _id: identity, ...document };
}

function applied(update: Update, document: Document, now: Date): Document {
  const result = copyDocument(document);
  for (const change of update) applyChange(result, change, now);
  const identity = getField(document, '_id');
  const after = getField(result, '_id');
  if (identity !== undefined && equalityKey(after ?? null) !== equalityKey(identity)) {
    throw new ReplyError(66, "Performing an update on the immutable field '_id'");
  }
  return result;
}

function applyChange(document: Document, { path, effect, creates }: Change, now: Date): void {
  let parent = document;
  for (const component of path.slice(0, -1)) {
    const next = getField(parent, component);
    if (isDocument(next)) {
      parent = next;
      continue;
    }
    if (!creates) return;
    if (next !== undefined) throw notViable(path, component, next);
    const child: Document = {};
    setField(parent, component, child);
    parent = child;
  }
  const field = path[path.length - 1] ?? '';
  const current = getField(parent, field);
  if (current === undefined && !creates) return;
  const value = effect(current, now);
  if (value === undefined) delete parent[field];
  else setField(parent, field, value);
}

function notViable(path: Path, at: string, value: Value): ReplyError {
  const dotted = path.join('.');
  return new ReplyError(
    28,
    `Cannot create a field for '${dotted}' in element '${at}' of type ${toBsonType(value)}`,
  );
}

/** Shares arrays and scalars, which the store never modifies. */
function copyDocument(document: Document): Document {
  const copy: Document = {};
  for (const [field, value] of Object.entries(document)) {
    setField(copy, field, isDocument(value) ? copyDocument(value) : value);
  }
  return copy;
}

/**
 * Computes the new value at a path. As argument `undefined` means a missing field; as result it
 * removes the field.
 */
type UpdateEffect = (current: Value | undefined, now: Date) => Value | undefined;

/** Parses an operand; `creates` tells whether the operator creates a missing path. */
interface Operator {
  readonly creates: boolean;
  parse(operand: Value, path: string): UpdateEffect;
}

const operators: Readonly<Record<UpdateOperator, Operator>> = {
  $set: { creates: true, parse: (operand) => () => operand },
  $setOnInsert: { creates: true, parse: (operand) => () => operand },
  $unset: { creates: false, parse: () => () => undefined },
  $inc: { creates: true, parse: increment },
  $max: { creates: true, parse: maximum },
  $currentDate: { creates: true, parse: currentDate },
  $addToSet: { creates: true, parse: addToSet },
  $pull: { creates: false, parse: pull },
};

const isOperatorName = (name: string): name is UpdateOperator => Object.hasOwn(operators, name);

function increment(operand: Value, path: string): UpdateEffect {
  if (!isNumber(operand)) {
    throw new ReplyError(14, `Cannot increment with non-numeric argument: {${path}: ...}`);
  }
  return (current) => {
    if (current === undefined) return operand;
    if (isNumber(current)) return current + operand;
    throw new ReplyError(14, `Cannot apply $inc to '${path}' of type ${toBsonType(current)}`);
  };
}

/** Compares numbers only; MongoDB also compares other types, and values of different types. */
function maximum(operand: Value, path: string): UpdateEffect {
  if (!isNumber(operand))
    throw notSupported(`$max of '${path}' with an operand that is not a number`);
  return (current) => {
    if (current === undefined) return operand;
    if (isNumber(current)) return compareScalars(current, operand) < 0 ? operand : current;
    throw notSupported(`$max of '${path}', whose value is not a number`);
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
