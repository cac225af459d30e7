/**
 * The supported commands, arguments, operators and types: everything else is rejected by name.
 *
 * test/store/embedded/sent.store.test.ts records what the service, Agenda, Agendash, the rate limiter and
 * the driver send, and fails when a table lacks something or contains something that no client sends.
 */

/** BSON types, by MongoDB's aliases. */
export const bsonTypes = [
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
export type BsonType = (typeof bsonTypes)[number];

export const queryOperators = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$regex',
  '$options',
  '$or',
] as const;
export type QueryOperator = (typeof queryOperators)[number];

export const updateOperators = [
  '$set',
  '$setOnInsert',
  '$unset',
  '$inc',
  '$max',
  '$currentDate',
  '$addToSet',
  '$pull',
] as const;
export type UpdateOperator = (typeof updateOperators)[number];

/** Aggregation stages and accumulators. */
export const pipelineOperators = ['$match', '$group', '$sum'] as const;

/** How an argument is parsed; see arguments.ts. */
export type ArgumentType =
  /** Has no effect, whatever its value. */
  | 'ignored'
  /** Only `false`, or only 0: the behaviour for other values is not supported. */
  | 'false'
  | 'zero'
  | 'string'
  /** The name of a collection. */
  | 'collection'
  | 'boolean'
  | 'nonNegativeInteger'
  | 'document'
  | 'documents'
  /** An array with exactly one document. */
  | 'statement'
  /** An array with at least one document. */
  | 'statements'
  | 'long'
  | 'longs';

/** `?` marks an optional argument. */
export type ArgumentShape = ArgumentType | `${ArgumentType}?`;

export type Shape = { readonly [field: string]: ArgumentShape };

const handshake = {
  helloOk: 'ignored',
  client: 'ignored',
  compression: 'ignored',
  backpressure: 'ignored',
} as const;

/** Commands with their arguments, besides `$db`, which every command has. */
export const commandShapes = {
  // The driver opens a connection with the old name, and repeats it with the new one.
  ismaster: { ismaster: 'ignored', ...handshake },
  hello: { hello: 'ignored' },
  ping: { ping: 'ignored' },
  buildInfo: { buildInfo: 'ignored' },
  // `ordered` has no effect with one statement.
  insert: { insert: 'collection', documents: 'statement', ordered: 'ignored' },
  update: { update: 'collection', updates: 'statements', ordered: 'boolean?' },
  delete: { delete: 'collection', deletes: 'statement', ordered: 'ignored' },
  findAndModify: {
    findAndModify: 'collection',
    query: 'document',
    sort: 'document?',
    update: 'document',
    new: 'boolean',
    upsert: 'boolean',
    remove: 'false',
  },
  find: {
    find: 'collection',
    filter: 'document',
    sort: 'document?',
    projection: 'document?',
    skip: 'nonNegativeInteger?',
    limit: 'nonNegativeInteger?',
    batchSize: 'nonNegativeInteger?',
    singleBatch: 'boolean?',
  },
  aggregate: { aggregate: 'collection', pipeline: 'documents', cursor: 'document' },
  getMore: { getMore: 'long', collection: 'collection' },
  killCursors: { killCursors: 'collection', cursors: 'longs' },
  createIndexes: { createIndexes: 'collection', indexes: 'statement' },
} as const satisfies { readonly [command: string]: Shape };
export type CommandName = keyof typeof commandShapes;

/** The fields of a statement, by the command's argument that contains it. */
export const statementShapes = {
  'update.updates': { q: 'document', u: 'document', multi: 'boolean?', upsert: 'boolean?' },
  'delete.deletes': { q: 'document', limit: 'zero' },
  'createIndexes.indexes': {
    key: 'document',
    name: 'string',
    unique: 'boolean?',
    sparse: 'boolean?',
    expireAfterSeconds: 'nonNegativeInteger?',
  },
  'aggregate.cursor': {},
} as const satisfies { readonly [argument: string]: Shape };
