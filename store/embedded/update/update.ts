import { ObjectId } from 'bson';
import { compareText, equalityKey } from '../bson/compare.ts';
import {
  type Document,
  getField,
  isDocument,
  setField,
  toBsonType,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import { type Path, parsePath } from '../query/path.ts';
import { operatorNamed, type UpdateEffect } from './operators.ts';

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
      const operator = operatorNamed(name);
      if (!isDocument(fields)) throw new ReplyError(9, `${name} needs an object of fields`);
      return Object.entries(fields).map(([field, operand]) => ({
        path: parsePath(field),
        effect: operator.parse(operand, field),
        creates: operator.creates,
        onInsert: operator.onInsert === true,
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
