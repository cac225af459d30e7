import { calculateObjectSize } from 'bson';
import { type Document, fieldOf } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import { MAX_STATEMENTS } from '../limits.ts';
import { parseFilter } from '../query/filter.ts';
import { applyUpdate, parseUpdate } from '../update/update.ts';
import { upsertedDocument } from '../update/upsert.ts';
import { Arguments } from './arguments.ts';
import type { Call, Reply } from './call.ts';
import { errorFields } from './error-reply.ts';
import { refuseUnsafeHint } from './read.ts';

const MAX_ERROR_TEXT_BYTES = 1024 * 1024;

export function insert(call: Call): Reply {
  const namespace = call.namespace();
  const documents = statements(call, 'documents');
  const ordered = call.given.flag('ordered', true);
  call.given.end();
  let n = 0;
  const writeErrors = runStatements(documents, ordered, (document) => {
    call.createCollection(namespace).insert(document);
    n += 1;
  });
  return { n, ...writeErrors };
}

export function update(call: Call): Reply {
  const namespace = call.namespace();
  const updates = statements(call, 'updates');
  const ordered = call.given.flag('ordered', true);
  call.given.end();
  let n = 0;
  let nModified = 0;
  const upserted: object[] = [];
  const writeErrors = runStatements(updates, ordered, (statement, index) => {
    const outcome = updateOne(call, namespace, statement);
    n += outcome.matched;
    nModified += outcome.modified;
    if (outcome.upserted !== undefined) {
      n += 1;
      upserted.push({ index, _id: fieldOf(outcome.upserted, '_id') });
    }
  });
  return { n, nModified, ...(upserted.length > 0 ? { upserted } : {}), ...writeErrors };
}

interface Outcome {
  readonly matched: number;
  readonly modified: number;
  readonly upserted?: Document;
}

function updateOne(call: Call, namespace: string, statement: Document): Outcome {
  const given = new Arguments(statement, 'update.updates');
  const filter = parseFilter(given.document('q'));
  const change = parseUpdate(given.value('u') ?? null);
  const multi = given.flag('multi', false);
  const upsert = given.flag('upsert', false);
  const hint = given.value('hint');
  given.end();
  if (multi && change.kind === 'replacement') {
    throw new CommandError(9, 'multi update is not supported for replacement-style update');
  }
  const collection = call.collection(namespace);
  refuseUnsafeHint(collection, hint);
  const now = new Date();
  // All are found before any is changed, so that no document is met twice.
  const found = collection?.find(filter) ?? [];
  const matched = multi ? found : found.slice(0, 1);
  if (collection === undefined || matched.length === 0) {
    if (!upsert) return { matched: 0, modified: 0 };
    const upserted = upsertedDocument(filter, change, now);
    return {
      matched: 0,
      modified: 0,
      upserted: call.createCollection(namespace).insert(upserted),
    };
  }
  let modified = 0;
  for (const entry of matched) {
    const after = applyUpdate(change, entry.document, false, now);
    if (collection.replace(entry, after)) modified += 1;
  }
  return { matched: matched.length, modified };
}

export function deleteCommand(call: Call): Reply {
  const namespace = call.namespace();
  const deletes = statements(call, 'deletes');
  const ordered = call.given.flag('ordered', true);
  call.given.end();
  let n = 0;
  const writeErrors = runStatements(deletes, ordered, (statement) => {
    const given = new Arguments(statement, 'delete.deletes');
    const filter = parseFilter(given.document('q'));
    const limit = given.count('limit');
    const hint = given.value('hint');
    given.end();
    if (limit !== 0 && limit !== 1) {
      throw new CommandError(9, 'The limit field in delete objects must be 0 or 1');
    }
    const collection = call.collection(namespace);
    refuseUnsafeHint(collection, hint);
    const found = collection?.find(filter) ?? [];
    for (const entry of limit === 1 ? found.slice(0, 1) : found) {
      collection?.remove(entry);
      n += 1;
    }
  });
  return { n, ...writeErrors };
}

function statements(call: Call, field: string): readonly Document[] {
  const documents = call.given.documents(field);
  if (documents.length === 0 || documents.length > MAX_STATEMENTS) {
    throw new CommandError(
      2,
      `Write batch sizes must be between 1 and ${MAX_STATEMENTS}. Got ${documents.length} operations.`,
    );
  }
  return documents;
}

/** Runs the statements one after the other; an error ends an ordered run, and is reported. */
function runStatements(
  documents: readonly Document[],
  ordered: boolean,
  run: (document: Document, index: number) => void,
): { writeErrors?: object[] } {
  const writeErrors: object[] = [];
  let textBytes = 0;
  for (const [index, document] of documents.entries()) {
    try {
      run(document, index);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { codeName: _, ...fields } = errorFields(error);
      // As in MongoDB, errors keep only their codes once their texts have filled the reply.
      textBytes += calculateObjectSize(fields);
      const full = textBytes > MAX_ERROR_TEXT_BYTES;
      writeErrors.push({ index, ...(full ? { code: error.code, errmsg: '' } : fields) });
      if (ordered) break;
    }
  }
  return writeErrors.length > 0 ? { writeErrors } : {};
}
