import type { ArgumentsOf } from '../arguments.ts';
import { fieldOf } from '../bson/value.ts';
import { parseFilter } from '../query/filter.ts';
import { parseSort } from '../query/sort.ts';
import type { commandShapes } from '../supported.ts';
import { applyUpdate, parseUpdate, upsertedDocument } from '../update/update.ts';
import type { Call } from './call.ts';
import type { Reply } from './reply.ts';

/** `findAndModify`: finds, changes and returns one document atomically. */
export function findAndModify(
  call: Call,
  given: ArgumentsOf<typeof commandShapes.findAndModify>,
): Reply {
  const { findAndModify: name, new: returnNew, upsert } = given;
  const filter = parseFilter(given.query);
  const order = parseSort(given.sort ?? {});
  const update = parseUpdate(given.update);

  const collection = call.collection(name);
  const [entry] = collection?.search(filter, order, 1) ?? [];
  const now = new Date();
  if (collection !== undefined && entry !== undefined) {
    const before = entry.document;
    collection.replace(entry, applyUpdate(update, before, now));
    const value = returnNew ? entry.document : before;
    return { lastErrorObject: { n: 1, updatedExisting: true }, value };
  }
  if (!upsert) return { lastErrorObject: { n: 0, updatedExisting: false }, value: null };
  const inserted = call.createCollection(name).insert(upsertedDocument(filter, update, now));
  const upserted = fieldOf(inserted, '_id');
  return {
    lastErrorObject: { n: 1, updatedExisting: false, upserted },
    value: returnNew ? inserted : null,
  };
}
