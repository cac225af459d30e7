import { fieldOf } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import { parseFilter } from '../query/filter.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort, sortDocuments } from '../query/sort.ts';
import { applyUpdate, parseUpdate, type Update } from '../update/update.ts';
import { upsertedDocument } from '../update/upsert.ts';
import type { Call, Reply } from './call.ts';
import { refuseUnsafeHint } from './read.ts';

/** `findAndModify`: one document found, changed or removed, and returned, with nothing in between. */
export function findAndModify(call: Call): Reply {
  const { given } = call;
  const namespace = call.namespace();
  const filter = parseFilter(given.optionalDocument('query') ?? {});
  const order = parseSort(given.optionalDocument('sort') ?? {});
  const project = parseProjection(given.optionalDocument('fields') ?? {});
  const remove = given.flag('remove', false);
  const upsert = given.flag('upsert', false);
  const returnNew = given.flag('new', false);
  const change = parseChange(given.value('update'), remove);
  const hint = given.value('hint');
  given.end();
  if (remove && (upsert || returnNew)) {
    throw new CommandError(9, "Cannot specify 'upsert' or 'new' together with 'remove'");
  }

  const collection = call.collection(namespace);
  refuseUnsafeHint(collection, hint);
  const found = collection?.find(filter) ?? [];
  const [entry] = sortDocuments(found, ({ document }) => document, order);
  const now = new Date();
  if (collection === undefined || entry === undefined) {
    if (change === null || !upsert) return reply(false, null);
    const collectionToFill = call.createCollection(namespace);
    const inserted = collectionToFill.insert(upsertedDocument(filter, change, now));
    return reply(false, returnNew ? project(inserted) : null, fieldOf(inserted, '_id'));
  }
  const before = entry.document;
  if (change === null) {
    collection.remove(entry);
    return { lastErrorObject: { n: 1 }, value: project(before) };
  }
  collection.replace(entry, applyUpdate(change, before, false, now));
  return reply(true, project(returnNew ? entry.document : before));

  function reply(updatedExisting: boolean, value: object | null, upserted?: unknown): Reply {
    const n = updatedExisting || upserted !== undefined ? 1 : 0;
    if (remove) return { lastErrorObject: { n }, value };
    const identity = upserted === undefined ? {} : { upserted };
    return { lastErrorObject: { n, updatedExisting, ...identity }, value };
  }
}

function parseChange(
  update: Parameters<typeof parseUpdate>[0] | undefined,
  remove: boolean,
): Update | null {
  if (remove === (update !== undefined)) {
    throw new CommandError(9, "Either an 'update' or 'remove' must be specified, and not both");
  }
  return update === undefined ? null : parseUpdate(update);
}
