import { type CommandArguments, readArguments } from '../arguments.ts';
import { type Document, getField, setField } from '../bson/value.ts';
import { notSupported } from '../errors.ts';
import { parseFilter } from '../query/filter.ts';
import { parsePipeline } from '../query/pipeline.ts';
import { parseSort } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';
import type { CommandReply } from '../wire/message.ts';
import { type CommandContext, findCollection, toNamespace } from './context.ts';

export function find(context: CommandContext, args: CommandArguments<'find'>): CommandReply {
  const { find: name, skip = 0, limit = 0, batchSize, singleBatch = false } = args;
  const filter = parseFilter(args.filter);
  const order = parseSort(args.sort ?? {});
  const project = args.projection && parseProjection(args.projection);
  const end = limit === 0 ? Number.POSITIVE_INFINITY : skip + limit;
  const sorted = findCollection(context, name)?.find(filter, order, end) ?? [];
  const documents = sorted.slice(skip).map(({ document }) => document);
  const namespace = toNamespace(context, name);
  return context.cursors.start({ namespace, documents, project, batchSize, singleBatch });
}

export function aggregate(
  context: CommandContext,
  args: CommandArguments<'aggregate'>,
): CommandReply {
  const group = parsePipeline(args.pipeline);
  readArguments(args.cursor, statementShapes['aggregate.cursor'], 'aggregate.cursor');
  const collection = findCollection(context, args.aggregate);
  const documents = collection === undefined ? [] : group(collection);
  return context.cursors.start({ namespace: toNamespace(context, args.aggregate), documents });
}

export function getMore(
  context: CommandContext,
  { getMore: id, collection }: CommandArguments<'getMore'>,
): CommandReply {
  return context.cursors.more(id, toNamespace(context, collection));
}

export function killCursors(
  context: CommandContext,
  args: CommandArguments<'killCursors'>,
): CommandReply {
  const namespace = toNamespace(context, args.killCursors);
  const cursorsKilled: number[] = [];
  const cursorsNotFound: number[] = [];
  for (const id of args.cursors) {
    const killed = context.cursors.kill(id, namespace);
    (killed ? cursorsKilled : cursorsNotFound).push(id);
  }
  return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [] };
}

export type Projection = (document: Document) => Document;

/**
 * Parses a projection that lists the fields to return in addition to `_id`.
 * @throws {ReplyError} 115 for any other projection
 */
export function parseProjection(projection: Document): Projection {
  for (const [field, value] of Object.entries(projection)) {
    if (value !== 1 || field.includes('.') || field.startsWith('$')) {
      throw notSupported(
        `the projection of '${field}' with a value other than 1, or of a nested field`,
      );
    }
  }
  const fields = new Set(['_id', ...Object.keys(projection)]);
  return (document) => {
    const result: Document = {};
    // Keeps the document's field order.
    for (const field of Object.keys(document)) {
      if (fields.has(field)) setField(result, field, getField(document, field) ?? null);
    }
    return result;
  };
}
