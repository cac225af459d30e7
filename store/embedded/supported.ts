/**
 * Everything that a client may send. All else is refused by its name, so the checks of commands,
 * filters, updates, pipelines and values derive from these tables.
 *
 * test/store/embedded/sent.test.ts records what the service, Agenda, Agendash, the rate limiter and
 * the driver send, and fails both when something is missing here and when something here is sent by
 * nobody.
 */

/** BSON types, by MongoDB's aliases. */
export const BSON_TYPES = [
  'double',
  'string',
  'object',
  'array',
  'objectId',
  'bool',
  'date',
  'null',
  'int',
  'long',
] as const;
export type BsonType = (typeof BSON_TYPES)[number];

export const QUERY_OPERATORS = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$regex',
  '$options',
  '$or',
] as const;
export type QueryOperator = (typeof QUERY_OPERATORS)[number];

export const UPDATE_OPERATORS = [
  '$set',
  '$setOnInsert',
  '$unset',
  '$inc',
  '$currentDate',
  '$addToSet',
  '$pull',
] as const;
export type UpdateOperator = (typeof UPDATE_OPERATORS)[number];

/** Aggregation stages and accumulators. */
export const PIPELINE_OPERATORS = ['$match', '$group', '$sum'] as const;

/** How an argument is read; see arguments.ts. */
export type Kind =
  /** Changes nothing, whatever it is. */
  | 'ignored'
  /** Only `false`, or only 0: what another value asks for is not done. */
  | 'false'
  | 'zero'
  | 'text'
  /** The name of a collection. */
  | 'collection'
  | 'flag'
  /** A whole number from 0. */
  | 'count'
  | 'document'
  | 'documents'
  /** An array that holds exactly one document. */
  | 'statement'
  | 'long'
  | 'longs';

/** With `?` it may be absent. */
export type ArgumentKind = Kind | `${Kind}?`;

export type Shape = { readonly [field: string]: ArgumentKind };

const HANDSHAKE = {
  helloOk: 'ignored',
  client: 'ignored',
  compression: 'ignored',
  backpressure: 'ignored',
} as const;

/** Commands with their arguments, besides `$db`, which every command has. */
export const COMMANDS = {
  // The driver opens a connection with the old name, and asks again by the new one.
  ismaster: { ismaster: 'ignored', ...HANDSHAKE },
  hello: { hello: 'ignored' },
  ping: { ping: 'ignored' },
  // With one statement there is no order.
  insert: { insert: 'collection', documents: 'statement', ordered: 'ignored' },
  update: { update: 'collection', updates: 'statement', ordered: 'ignored' },
  delete: { delete: 'collection', deletes: 'statement', ordered: 'ignored' },
  findAndModify: {
    findAndModify: 'collection',
    query: 'document',
    sort: 'document?',
    update: 'document',
    new: 'flag',
    upsert: 'flag',
    remove: 'false',
  },
  find: {
    find: 'collection',
    filter: 'document',
    sort: 'document?',
    projection: 'document?',
    skip: 'count?',
    limit: 'count?',
    singleBatch: 'flag?',
  },
  aggregate: { aggregate: 'collection', pipeline: 'documents', cursor: 'document' },
  getMore: { getMore: 'long', collection: 'collection' },
  killCursors: { killCursors: 'collection', cursors: 'longs' },
  createIndexes: { createIndexes: 'collection', indexes: 'statement' },
} as const satisfies { readonly [command: string]: Shape };
export type CommandName = keyof typeof COMMANDS;

/** The fields of a statement, by the command's argument that holds it. */
export const STATEMENTS = {
  'update.updates': { q: 'document', u: 'document', multi: 'flag?', upsert: 'flag?' },
  'delete.deletes': { q: 'document', limit: 'zero' },
  'createIndexes.indexes': {
    key: 'document',
    name: 'text',
    unique: 'flag?',
    expireAfterSeconds: 'count?',
  },
  'aggregate.cursor': {},
} as const satisfies { readonly [argument: string]: Shape };
