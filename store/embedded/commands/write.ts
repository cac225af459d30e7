import { type CommandArguments, readArguments } from '../arguments.ts';
import { equalityKey } from '../bson/compare.ts';
import { type Document, getField, type Value } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { parseFilter } from '../query/filter.ts';
import { parseSort } from '../query/sort.ts';
import { applyUpdate, parseUpdate, upsertedDocument } from '../query/update.ts';
import type { Collection } from '../storage/collection.ts';
import { type IndexSpecification, parseIndexSpecification } from '../storage/index.ts';
import { statementShapes } from '../supported.ts';
import type { CommandReply } from '../wire/message.ts';
import { type CommandContext, createCollection, findCollection } from './context.ts';

export function insert(context: CommandContext, args: CommandArguments<'insert'>): CommandReply {
  return statement({ n: 0 }, () => {
    createCollection(context, args.insert).insert(args.documents);
    return { n: 1 };
  });
}

export function update(context: CommandContext, args: CommandArguments<'update'>): CommandReply {
  const upserted: { readonly index: number; readonly _id: Value | undefined }[] = [];
  const writeErrors: CommandReply[] = [];
  const count = { n: 0, nModified: 0 };
  for (const [index, statement] of args.updates.entries()) {
    const failed = tryStatement(index, () => {
      const updated = runUpdate(context, args.update, statement);
      count.n += updated.n;
      count.nModified += updated.nModified;
      if ('upserted' in updated) upserted.push({ index, _id: updated.upserted });
    });
    if (failed === null) continue;
    writeErrors.push(failed);
    if (args.ordered !== false) break;
  }
  return {
    ...count,
    ...(upserted.length > 0 && { upserted }),
    ...(writeErrors.length > 0 && { writeErrors }),
  };
}

interface Updated {
  readonly n: number;
  readonly nModified: number;
  /** The inserted document's id. */
  readonly upserted?: Value | undefined;
}

function runUpdate(context: CommandContext, name: string, statement: Document): Updated {
  const args = readArguments(statement, statementShapes['update.updates'], 'update.updates');
  const filter = parseFilter(args.q);
  const change = parseUpdate(args.u);
  const collection = findCollection(context, name);
  const now = new Date();
  // Finds all documents before the first change, so that no document changes twice.
  const found = collection?.find(filter) ?? [];
  if (collection === undefined || found.length === 0) {
    if (args.upsert !== true) return { n: 0, nModified: 0 };
    const upserted = createCollection(context, name).insert(upsertedDocument(filter, change, now));
    return { n: 1, nModified: 0, upserted: getField(upserted, '_id') };
  }
  const matched = args.multi === true ? found : found.slice(0, 1);
  let nModified = 0;
  for (const entry of matched) {
    if (collection.replace(entry, applyUpdate(change, entry.document, now))) nModified += 1;
  }
  return { n: matched.length, nModified };
}

export function deleteCommand(
  context: CommandContext,
  args: CommandArguments<'delete'>,
): CommandReply {
  return statement({ n: 0 }, () => {
    const { q } = readArguments(args.deletes, statementShapes['delete.deletes'], 'delete.deletes');
    const collection = findCollection(context, args.delete);
    const found = collection?.find(parseFilter(q)) ?? [];
    for (const entry of found) collection?.remove(entry);
    return { n: found.length };
  });
}

export function findAndModify(
  context: CommandContext,
  args: CommandArguments<'findAndModify'>,
): CommandReply {
  const { findAndModify: name, new: returnNew, upsert } = args;
  const filter = parseFilter(args.query);
  const order = parseSort(args.sort ?? {});
  const change = parseUpdate(args.update);
  const collection = findCollection(context, name);
  const [entry] = collection?.find(filter, order, 1) ?? [];
  const now = new Date();
  if (collection !== undefined && entry !== undefined) {
    const before = entry.document;
    collection.replace(entry, applyUpdate(change, before, now));
    const value = returnNew ? entry.document : before;
    return { lastErrorObject: { n: 1, updatedExisting: true }, value };
  }
  if (!upsert) return { lastErrorObject: { n: 0, updatedExisting: false }, value: null };
  const inserted = createCollection(context, name).insert(upsertedDocument(filter, change, now));
  const upserted = getField(inserted, '_id');
  return {
    lastErrorObject: { n: 1, updatedExisting: false, upserted },
    value: returnNew ? inserted : null,
  };
}

/** Runs a command's only statement, and reports its error in `writeErrors`. */
function statement(noEffect: CommandReply, run: () => CommandReply): CommandReply {
  let reply = noEffect;
  const failed = tryStatement(0, () => {
    reply = run();
  });
  return failed === null ? reply : { ...noEffect, writeErrors: [failed] };
}

/** Runs the statement at an index; its error, or null. */
function tryStatement(index: number, run: () => void): CommandReply | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    const { codeName: _, ...fields } = error.fields;
    return { index, ...fields };
  }
}

export function createIndexes(
  context: CommandContext,
  { createIndexes: name, indexes: index }: CommandArguments<'createIndexes'>,
): CommandReply {
  const specification = parseIndexSpecification(index);
  if (specification.path.join('.') === '_id') throw notSupported('a second index on _id');
  const createdCollectionAutomatically = findCollection(context, name) === undefined;
  const collection = createCollection(context, name);
  const numIndexesBefore = collection.indexes.length;
  if (!exists(collection, specification)) collection.addIndex(specification);
  const numIndexesAfter = collection.indexes.length;
  return { numIndexesBefore, numIndexesAfter, createdCollectionAutomatically };
}

/** @throws {ReplyError} 86 when its name belongs to a different index, 85 when its key does. */
function exists(collection: Collection, index: IndexSpecification): boolean {
  for (const other of collection.indexes) {
    const sameKey = equalityKey(other.key) === equalityKey(index.key);
    const sameOptions =
      other.unique === index.unique &&
      other.sparse === index.sparse &&
      other.expireAfterSeconds === index.expireAfterSeconds;
    if (other.name === index.name) {
      if (sameKey && sameOptions) return true;
      throw new ReplyError(86, `The index ${other.name} exists with different options`);
    }
    if (sameKey) throw new ReplyError(85, `The index ${other.name} has the same key`);
  }
  return false;
}
