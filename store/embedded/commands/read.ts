import type { Long } from 'bson';
import { type ArgumentsOf, readArguments } from '../arguments.ts';
import { parseFilter } from '../query/filter.ts';
import { parsePipeline } from '../query/pipeline.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort } from '../query/sort.ts';
import { type commandShapes, statementShapes } from '../supported.ts';
import type { Reply } from '../wire/message.ts';
import type { Call } from './call.ts';

type Given = {
  readonly [Name in keyof typeof commandShapes]: ArgumentsOf<(typeof commandShapes)[Name]>;
};

export function find(call: Call, given: Given['find']): Reply {
  const { find: name, skip = 0, limit = 0, singleBatch = false } = given;
  const filter = parseFilter(given.filter);
  const order = parseSort(given.sort ?? {});
  const project = given.projection && parseProjection(given.projection);
  const most = limit === 0 ? Number.POSITIVE_INFINITY : skip + limit;
  const sorted = call.collection(name)?.search(filter, order, most) ?? [];
  const documents = sorted.slice(skip).map(({ document }) => document);
  const namespace = call.namespace(name);
  return call.store.cursors.start({ namespace, documents, project, singleBatch });
}

export function aggregate(call: Call, given: Given['aggregate']): Reply {
  const group = parsePipeline(given.pipeline);
  readArguments(given.cursor, statementShapes['aggregate.cursor'], 'aggregate.cursor');
  const collection = call.collection(given.aggregate);
  const documents = collection === undefined ? [] : group(collection);
  return call.store.cursors.start({ namespace: call.namespace(given.aggregate), documents });
}

export function getMore(call: Call, { getMore: id, collection }: Given['getMore']): Reply {
  return call.store.cursors.more(id, call.namespace(collection));
}

export function killCursors(call: Call, given: Given['killCursors']): Reply {
  const namespace = call.namespace(given.killCursors);
  const cursorsKilled: Long[] = [];
  const cursorsNotFound: Long[] = [];
  for (const id of given.cursors) {
    const killed = call.store.cursors.kill(id, namespace);
    (killed ? cursorsKilled : cursorsNotFound).push(id);
  }
  return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [] };
}
