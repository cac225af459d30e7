import type { Long } from 'bson';
import { type CommandArguments, readArguments } from '../arguments.ts';
import { parseFilter } from '../query/filter.ts';
import { parsePipeline } from '../query/pipeline.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';
import type { CommandReply } from '../wire/message.ts';
import type { Call } from './call.ts';

export function find(call: Call, args: CommandArguments<'find'>): CommandReply {
  const { find: name, skip = 0, limit = 0, batchSize, singleBatch = false } = args;
  const filter = parseFilter(args.filter);
  const order = parseSort(args.sort ?? {});
  const project = args.projection && parseProjection(args.projection);
  const end = limit === 0 ? Number.POSITIVE_INFINITY : skip + limit;
  const sorted = call.collection(name)?.findSorted(filter, order, end) ?? [];
  const documents = sorted.slice(skip).map(({ document }) => document);
  const namespace = call.namespace(name);
  return call.state.cursors.start({ namespace, documents, project, batchSize, singleBatch });
}

export function aggregate(call: Call, args: CommandArguments<'aggregate'>): CommandReply {
  const group = parsePipeline(args.pipeline);
  readArguments(args.cursor, statementShapes['aggregate.cursor'], 'aggregate.cursor');
  const collection = call.collection(args.aggregate);
  const documents = collection === undefined ? [] : group(collection);
  return call.state.cursors.start({ namespace: call.namespace(args.aggregate), documents });
}

export function getMore(
  call: Call,
  { getMore: id, collection }: CommandArguments<'getMore'>,
): CommandReply {
  return call.state.cursors.more(id, call.namespace(collection));
}

export function killCursors(call: Call, args: CommandArguments<'killCursors'>): CommandReply {
  const namespace = call.namespace(args.killCursors);
  const cursorsKilled: Long[] = [];
  const cursorsNotFound: Long[] = [];
  for (const id of args.cursors) {
    const killed = call.state.cursors.kill(id, namespace);
    (killed ? cursorsKilled : cursorsNotFound).push(id);
  }
  return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [] };
}
