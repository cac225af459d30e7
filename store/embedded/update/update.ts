import { compareText } from '../bson/compare.ts';
import { equalityKey } from '../bson/key.ts';
import {
  type Document,
  fieldOf,
  isArray,
  isDocument,
  setField,
  type Value,
} from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { type Path, parsePath } from '../query/path.ts';
import { typeAlias } from '../query/type.ts';
import { type Effect, MODIFIERS } from './modifiers.ts';

interface Change {
  readonly path: Path;
  readonly effect: Effect;
  readonly creates: boolean;
  readonly onInsert: boolean;
}

export type Update =
  | { readonly kind: 'replacement'; readonly document: Document }
  | { readonly kind: 'modifiers'; readonly changes: readonly Change[] };

/**
 * Parses the `u` of an update.
 * @throws {CommandError} 9 or 52 for a mixture of fields and operators, 40 for conflicting paths,
 *   115 for a pipeline or an operator that is not offered.
 */
export function parseUpdate(update: Value): Update {
  if (isArray(update)) throw notSupported('an update pipeline');
  if (!isDocument(update)) throw new CommandError(9, 'an update must be a document');
  const operators = Object.keys(update);
  if (operators[0]?.startsWith('$') !== true) {
    const operator = operators.find((field) => field.startsWith('$'));
    if (operator === undefined) return { kind: 'replacement', document: update };
    throw new CommandError(52, `The dollar ($) prefixed field '${operator}' is not allowed here`);
  }
  const changes = Object.entries(update).flatMap(([operator, fields]) =>
    parseModifier(operator, fields),
  );
  // As in MongoDB the order of the paths decides the order of new fields, not the request's.
  changes.sort((a, b) => comparePaths(a.path, b.path));
  changes.forEach((change, i) => {
    refuseConflict(changes[i - 1], change);
  });
  return { kind: 'modifiers', changes };
}

function parseModifier(operator: string, fields: Value): Change[] {
  const modifier = Object.hasOwn(MODIFIERS, operator) ? MODIFIERS[operator] : undefined;
  if (modifier === undefined) {
    throw operator.startsWith('$')
      ? notSupported(`the update operator ${operator}`)
      : new CommandError(9, `Unknown modifier: ${operator}`);
  }
  if (!isDocument(fields)) {
    throw new CommandError(9, `Modifiers operate on fields but ${operator} has none`);
  }
  return Object.entries(fields).map(([field, operand]) => ({
    path: parsePath(field),
    effect: modifier.parse(operand, field),
    creates: modifier.creates,
    onInsert: modifier.onInsert === true,
  }));
}

function refuseConflict(before: Change | undefined, change: Change): void {
  // A path sorts directly before the paths within it.
  if (before?.path.every((component, i) => component === change.path[i])) {
    const [path, at] = [change.path.join('.'), before.path.join('.')];
    throw new CommandError(40, `Updating the path '${path}' would create a conflict at '${at}'`);
  }
}

function comparePaths(left: Path, right: Path): number {
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const order = compareText(left[i] ?? '', right[i] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/**
 * The document as the update leaves it; the given one is not changed.
 *
 * @param inserting whether this is an upsert's new document, for which `$setOnInsert` counts
 * @throws {CommandError} 66 when `_id` would change, 28 when a path leads through a scalar.
 */
export function applyUpdate(
  update: Update,
  document: Document,
  inserting: boolean,
  now: Date,
): Document {
  const identity = fieldOf(document, '_id');
  const result =
    update.kind === 'replacement'
      ? withIdentity(update.document, fieldOf(update.document, '_id') ?? identity)
      : modified(update.changes, document, inserting, now);
  if (identity !== undefined) {
    const after = fieldOf(result, '_id');
    if (after === undefined || equalityKey(after) !== equalityKey(identity)) {
      throw new CommandError(66, "Performing an update on the immutable field '_id'");
    }
  }
  return result;
}

/** The document with `_id` in the first place. */
export function withIdentity(document: Document, identity: Value | undefined): Document {
  return identity === undefined ? { ...document } : { _id: identity, ...document };
}

function modified(
  changes: readonly Change[],
  document: Document,
  inserting: boolean,
  now: Date,
): Document {
  const result = copyOf(document);
  for (const change of changes) {
    if (!change.onInsert || inserting) applyChange(result, change, now);
  }
  return result;
}

function applyChange(document: Document, { path, effect, creates }: Change, now: Date): void {
  let parent = document;
  for (const component of path.slice(0, -1)) {
    const next = fieldOf(parent, component);
    if (isDocument(next)) {
      parent = next;
      continue;
    }
    if (!creates) return;
    if (next !== undefined) throw notViable(path, component, next);
    const made: Document = {};
    setField(parent, component, made);
    parent = made;
  }
  const field = path[path.length - 1] ?? '';
  const current = fieldOf(parent, field);
  if (current === undefined && !creates) return;
  const value = effect(current, now);
  if (value === undefined) delete parent[field];
  else setField(parent, field, value);
}

function notViable(path: Path, at: string, value: Value): CommandError {
  const dotted = path.join('.');
  return new CommandError(
    28,
    `Cannot create a field for '${dotted}' in element '${at}' of type ${typeAlias(value)}`,
  );
}

/** Copies the documents that a path can lead through. Arrays and scalars are never changed. */
function copyOf(document: Document): Document {
  const copy: Document = {};
  for (const [field, value] of Object.entries(document)) {
    setField(copy, field, isDocument(value) ? copyOf(value) : value);
  }
  return copy;
}
