import { Long } from 'bson';
import { isArray, isDocument, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { aggregate, parsePipeline } from '../query/aggregate.ts';
import { parseFilter } from '../query/filter.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort, sortDocuments } from '../query/sort.ts';
import type { Collection } from '../storage/collection.ts';
import { Arguments } from './arguments.ts';
import { type Call, collectionName, type Reply } from './call.ts';
import { hasIndex } from './indexes.ts';

export function find(call: Call): Reply {
  const { given } = call;
  const namespace = call.namespace();
  const filter = parseFilter(given.optionalDocument('filter') ?? {});
  const order = parseSort(given.optionalDocument('sort') ?? {});
  const project = parseProjection(given.optionalDocument('projection') ?? {});
  const skip = given.count('skip') ?? 0;
  const limit = given.count('limit') ?? 0;
  const batchSize = given.count('batchSize');
  const singleBatch = given.flag('singleBatch', false);
  const hint = given.value('hint');
  given.ignore('allowDiskUse', 'allowPartialResults');
  given.refuseTrue('tailable', 'awaitData', 'oplogReplay', 'noCursorTimeout');
  given.refuseTrue('returnKey', 'showRecordId');
  given.end();

  const collection = call.collection(namespace);
  refuseUnsafeHint(collection, hint);
  const found = collection?.find(filter).map(({ document }) => document) ?? [];
  const sorted = sortDocuments(found, (document) => document, order);
  const documents = sorted.slice(skip, limit === 0 ? undefined : skip + limit);
  return call.store.cursors.start({ namespace, documents, project, batchSize, singleBatch });
}

export function getMore(call: Call): Reply {
  const id = call.given.long('getMore');
  const namespace = `${call.database}.${call.given.text('collection')}`;
  const batchSize = call.given.count('batchSize');
  call.given.end();
  return call.store.cursors.more(id, namespace, batchSize);
}

export function killCursors(call: Call): Reply {
  const namespace = `${call.database}.${call.given.text('killCursors')}`;
  const ids = call.given.array('cursors');
  call.given.end();
  const cursorsKilled: Value[] = [];
  const cursorsNotFound: Value[] = [];
  for (const id of ids) {
    if (!(id instanceof Long)) throw new CommandError(14, 'killCursors.cursors must hold longs');
    const killed = call.store.cursors.kill(id, namespace);
    (killed ? cursorsKilled : cursorsNotFound).push(id);
  }
  return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [] };
}

export function count(call: Call): Reply {
  const { given } = call;
  const namespace = call.namespace();
  const filter = parseFilter(given.optionalDocument('query') ?? {});
  const skip = given.count('skip') ?? 0;
  const limit = given.count('limit') ?? 0;
  const hint = given.value('hint');
  given.end();
  const collection = call.collection(namespace);
  refuseUnsafeHint(collection, hint);
  const found = Math.max(0, (collection?.find(filter).length ?? 0) - skip);
  return { n: limit === 0 ? found : Math.min(found, limit) };
}

export function aggregateCommand(call: Call): Reply {
  const { given } = call;
  const target = given.value('aggregate');
  const stages = parsePipeline(given.array('pipeline'));
  if (typeof target !== 'string') throw notSupported('an aggregation over a whole database');
  const namespace = `${call.database}.${collectionName(target)}`;
  const cursor = new Arguments(given.document('cursor'), 'aggregate.cursor');
  const batchSize = cursor.count('batchSize');
  cursor.end();
  const hint = given.value('hint');
  given.ignore('allowDiskUse');
  given.refuseTrue('explain');
  given.end();
  const collection = call.collection(namespace);
  refuseUnsafeHint(collection, hint);
  const documents = aggregate(stages, (filter) =>
    (collection?.find(filter) ?? []).map(({ document }) => document),
  );
  return call.store.cursors.start({ namespace, documents, batchSize });
}

/**
 * A hint may change how fast an answer comes, and here changes nothing; but one that would change
 * the answer itself, as a partial index or the reverse natural order does, is refused.
 */
export function refuseUnsafeHint(
  collection: Collection | undefined,
  hint: Value | undefined,
): void {
  if (hint === undefined || collection === undefined) return;
  if (isDocument(hint) && Object.keys(hint).length === 0) return;
  if (isArray(hint) || !hasIndex(collection, hint)) {
    throw new CommandError(2, 'hint provided does not correspond to an existing index');
  }
  for (const { specification } of collection.indexes) {
    if (specification.partial !== null) throw notSupported('a hint beside a partial index');
  }
}
