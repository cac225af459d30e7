/**
 * The supported commands, arguments, operators and types. The store rejects anything else by name.
 *
 * test/store/embedded/sent.store.test.ts records the commands that the service, Agenda, Agendash,
 * the rate limiter and the driver send, and fails if a table lacks an entry or lists an unused
 * entry.
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
] as const;
export type BsonType = (typeof bsonTypes)[number];

export const queryOperators = [
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

/** How arguments.ts parses an argument. */
export type ArgumentType =
  /** Has no effect, whatever its value. */
  | 'ignored'
  /** Accepts only `false` or 0, because the behaviour of other values is unsupported. */
  | 'false'
  | 'zero'
  | 'string'
  /** A collection's name. */
  | 'collection'
  | 'boolean'
  | 'nonNegativeInteger'
  | 'document'
  | 'documents'
  /** An array with exactly one document. */
  | 'statement'
  /** An array with at least one document. */
  | 'statements'
  | 'integers';

/** `?` marks an optional argument. */
export type ArgumentShape = ArgumentType | `${ArgumentType}?`;

export type Shape = { readonly [field: string]: ArgumentShape };

const handshake = {
  helloOk: 'ignored',
  client: 'ignored',
  compression: 'ignored',
  backpressure: 'ignored',
} as const;

/** Commands with their arguments, except `$db`, which every command accepts. */
export const commandShapes = {
  // The driver opens a connection with the old name, then switches to the new name.
  ismaster: { ismaster: 'ignored', ...handshake },
  hello: { hello: 'ignored' },
  ping: { ping: 'ignored' },
  buildInfo: { buildInfo: 'ignored' },
  // `ordered` is irrelevant to a single statement.
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
  getMore: { getMore: 'nonNegativeInteger', collection: 'collection' },
  killCursors: { killCursors: 'collection', cursors: 'integers' },
  createIndexes: { createIndexes: 'collection', indexes: 'statement' },
} as const satisfies { readonly [command: string]: Shape };
export type CommandName = keyof typeof commandShapes;

/** Statement fields by the command argument that contains the statement. */
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

/** Protocol limits, as announced by `hello`. */

/** A message, header included. */
export const maxMessageBytes = 48_000_000;

/** A stored document. */
export const maxDocumentBytes = 16 * 1024 * 1024;

/** A document in a message: a stored one and the command around it. */
export const maxCommandBytes = maxDocumentBytes + 16 * 1024;

/** Statements per write command. Only bulk writes, which the store refuses, have more. */
export const maxStatements = 1;
