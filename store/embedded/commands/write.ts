import { type ArgumentsOf, readArguments } from '../arguments.ts';
import { type Document, fieldOf } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { parseFilter } from '../query/filter.ts';
import { parseSort } from '../query/sort.ts';
import { type commandShapes, statementShapes } from '../supported.ts';
import { applyUpdate, parseUpdate, upsertedDocument } from '../update/update.ts';
import type { Reply } from '../wire/message.ts';
import type { Call } from './call.ts';

export function insert(call: Call, given: ArgumentsOf<typeof commandShapes.insert>): Reply {
  return statement({ n: 0 }, () => {
    call.createCollection(given.insert).insert(given.documents);
    return { n: 1 };
  });
}

export function update(
  call: Call,
  { update: name, updates }: ArgumentsOf<typeof commandShapes.update>,
): Reply {
  return statement({ n: 0, nModified: 0 }, () => updateBy(call, name, updates));
}

function updateBy(call: Call, name: string, statement: Document): Reply {
  const given = readArguments(statement, statementShapes['update.updates'], 'update.updates');
  const filter = parseFilter(given.q);
  const change = parseUpdate(given.u);
  const collection = call.collection(name);
  const now = new Date();
  // All documents are found before the first change, so that none is updated twice.
  const found = collection?.find(filter) ?? [];
  if (collection === undefined || found.length === 0) {
    if (given.upsert !== true) return { n: 0, nModified: 0 };
    const upserted = call.createCollection(name).insert(upsertedDocument(filter, change, now));
    return { n: 1, nModified: 0, upserted: [{ index: 0, _id: fieldOf(upserted, '_id') }] };
  }
  const matched = given.multi === true ? found : found.slice(0, 1);
  let nModified = 0;
  for (const entry of matched) {
    if (collection.replace(entry, applyUpdate(change, entry.document, now))) nModified += 1;
  }
  return { n: matched.length, nModified };
}

export function deleteCommand(call: Call, given: ArgumentsOf<typeof commandShapes.delete>): Reply {
  return statement({ n: 0 }, () => {
    const { q } = readArguments(given.deletes, statementShapes['delete.deletes'], 'delete.deletes');
    const collection = call.collection(given.delete);
    const found = collection?.find(parseFilter(q)) ?? [];
    for (const entry of found) collection?.remove(entry);
    return { n: found.length };
  });
}

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

/** Runs a command's only statement; its error is reported in `writeErrors`. */
function statement(nothing: Reply, run: () => Reply): Reply {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    const { codeName: _, ...fields } = error.fields;
    return { ...nothing, writeErrors: [{ index: 0, ...fields }] };
  }
}
