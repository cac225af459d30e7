import { ObjectId } from 'bson';
import { compareText } from '../bson/compare.ts';
import { type Document, fieldOf, isDocument, setField, type Value } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import type { Path } from '../query/path.ts';
import { equalitiesOf } from '../query/plan.ts';
import { applyUpdate, type Update, withIdentity } from './update.ts';

/**
 * The document that an upsert inserts when nothing matches: what the filter says by equality, then
 * the update. A replacement takes over nothing but `_id`.
 * @throws {CommandError} 54 when the filter names a value twice, 66 when `_id` would differ from it.
 */
export function upsertedDocument(filter: Filter, update: Update, now: Date): Document {
  const equalities = equalitiesOf(filter)
    .filter(({ path }) => update.kind === 'modifiers' || path.join('.') === '_id')
    .sort((a, b) => compareText(a.path.join('.'), b.path.join('.')));
  const start: Document = {};
  for (const { path, value } of equalities) plant(start, path, value);
  const document = applyUpdate(update, start, true, now);
  return withIdentity(document, fieldOf(document, '_id') ?? new ObjectId());
}

function plant(document: Document, path: Path, value: Value): void {
  const dotted = path.join('.');
  let parent = document;
  for (const component of path.slice(0, -1)) {
    let next = fieldOf(parent, component);
    if (next === undefined) {
      next = {};
      setField(parent, component, next);
    }
    if (!isDocument(next)) throw ambiguous(dotted);
    parent = next;
  }
  const field = path[path.length - 1] ?? '';
  if (Object.hasOwn(parent, field)) throw ambiguous(dotted);
  setField(parent, field, isDocument(value) ? { ...value } : value);
}

function ambiguous(path: string): CommandError {
  return new CommandError(54, `cannot infer query fields to set, path '${path}' is matched twice`);
}
