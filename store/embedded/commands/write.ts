import { type CommandArguments, readArguments } from '../arguments.ts';
import { type Document, fieldOf } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { parseFilter } from '../query/filter.ts';
import { parseSort } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';
import { applyUpdate, parseUpdate, upsertedDocument } from '../update/update.ts';
import type { Reply } from '../wire/message.ts';
import type { Call } from './call.ts';

export function insert(call: Call, args: CommandArguments<'insert'>): Reply {
  return statement({ n: 0 }, () => {
    call.createCollection(args.insert).insert(args.documents);
    return { n: 1 };
  });
}

export function update(call: Call, args: CommandArguments<'update'>): Reply {
  return statement({ n: 0, nModified: 0 }, () => runUpdate(call, args.update, args.updates));
}

function runUpdate(call: Call, name: string, statement: Document): Reply {
  const args = readArguments(statement, statementShapes['update.updates'], 'update.updates');
  const filter = parseFilter(args.q);
  const change = parseUpdate(args.u);
  const collection = call.collection(name);
  const now = new Date();
  // All documents are found before the first change, so that none is updated twice.
  const found = collection?.find(filter) ?? [];
  if (collection === undefined || found.length === 0) {
    if (args.upsert !== true) return { n: 0, nModified: 0 };
    const upserted = call.createCollection(name).insert(upsertedDocument(filter, change, now));
    return { n: 1, nModified: 0, upserted: [{ index: 0, _id: fieldOf(upserted, '_id') }] };
  }
  const matched = args.multi === true ? found : found.slice(0, 1);
  let nModified = 0;
  for (const entry of matched) {
    if (collection.replace(entry, applyUpdate(change, entry.document, now))) nModified += 1;
  }
  return { n: matched.length, nModified };
}

export function deleteCommand(call: Call, args: CommandArguments<'delete'>): Reply {
  return statement({ n: 0 }, () => {
    const { q } = readArguments(args.deletes, statementShapes['delete.deletes'], 'delete.deletes');
    const collection = call.collection(args.delete);
    const found = collection?.find(parseFilter(q)) ?? [];
    for (const entry of found) collection?.remove(entry);
    return { n: found.length };
  });
}

export function findAndModify(call: Call, args: CommandArguments<'findAndModify'>): Reply {
  const { findAndModify: name, new: returnNew, upsert } = args;
  const filter = parseFilter(args.query);
  const order = parseSort(args.sort ?? {});
  const change = parseUpdate(args.update);
  const collection = call.collection(name);
  const [entry] = collection?.findSorted(filter, order, 1) ?? [];
  const now = new Date();
  if (collection !== undefined && entry !== undefined) {
    const before = entry.document;
    collection.replace(entry, applyUpdate(change, before, now));
    const value = returnNew ? entry.document : before;
    return { lastErrorObject: { n: 1, updatedExisting: true }, value };
  }
  if (!upsert) return { lastErrorObject: { n: 0, updatedExisting: false }, value: null };
  const inserted = call.createCollection(name).insert(upsertedDocument(filter, change, now));
  const upserted = fieldOf(inserted, '_id');
  return {
    lastErrorObject: { n: 1, updatedExisting: false, upserted },
    value: returnNew ? inserted : null,
  };
}

/** Runs a command's only statement; its error is reported in `writeErrors`. */
function statement(noEffect: Reply, run: () => Reply): Reply {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    const { codeName: _, ...fields } = error.fields;
    return { ...noEffect, writeErrors: [{ index: 0, ...fields }] };
  }
}
