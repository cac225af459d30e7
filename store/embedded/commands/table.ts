import { type CommandArguments, readArguments, validName } from '../arguments.ts';
import type { Document } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import {
  type CommandName,
  commandShapes,
  maxDocumentBytes,
  maxMessageBytes,
  maxStatements,
} from '../supported.ts';
import type { CommandReply } from '../wire/message.ts';
import type { CommandContext, ServerState } from './context.ts';
import { aggregate, find, getMore, killCursors } from './read.ts';
import { createIndexes, deleteCommand, findAndModify, insert, update } from './write.ts';

type Handler<Name extends CommandName> = (
  context: CommandContext,
  args: CommandArguments<Name>,
) => CommandReply;

const handlers: { readonly [Name in CommandName]: Handler<Name> } = {
  ismaster: ({ connection }) => helloReply(connection),
  hello: ({ connection }) => helloReply(connection),
  ping: () => ({}),
  buildInfo: () => ({ version: '7.0.0', embedded: true }),
  insert,
  update,
  delete: deleteCommand,
  findAndModify,
  find,
  aggregate,
  getMore,
  killCursors,
  createIndexes,
};

/**
 * Commands that change documents or can contain other clients' changes; `getMore` returns earlier
 * ones.
 */
const waiting: ReadonlySet<string> = new Set([
  'find',
  'aggregate',
  'insert',
  'update',
  'delete',
  'findAndModify',
  'createIndexes',
] satisfies CommandName[]);

/**
 * Resolves with a write's or read's reply when all changes so far are on disk: no client sees data
 * that can be lost. Other commands do not wait: drivers consider a server away that fails a `hello`.
 */
export async function runCommand(
  state: ServerState,
  command: Document,
  connection: number,
): Promise<CommandReply> {
  let reply: CommandReply;
  const [name = ''] = Object.keys(command);
  try {
    if (!isCommandName(name)) throw new ReplyError(59, `no such command: '${name}'`);
    const { $db: database, ...args } = command;
    if (typeof database !== 'string') throw new ReplyError(14, `${name}.$db must be a string`);
    const context = { ...state, database: validName(database), connection };
    reply = { ...handle(name, context, args), ok: 1 };
  } catch (error) {
    reply = errorReply(error);
  }
  if (!waiting.has(name)) return reply;
  try {
    await state.catalog.log.durable();
    return reply;
  } catch (error) {
    return errorReply(error);
  }
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandShapes, name);
}

function handle<Name extends CommandName>(
  name: Name,
  context: CommandContext,
  args: Document,
): CommandReply {
  const handler: Handler<Name> = handlers[name];
  return handler(context, readArguments(args, commandShapes[name], name));
}

/** For any error: a bug in this server must not terminate it for all clients. */
function errorReply(error: unknown): CommandReply {
  if (error instanceof ReplyError) return { ok: 0, ...error.fields };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  return { ok: 0, ...new ReplyError(1, text).fields };
}

/** The wire version of MongoDB 7.0. */
const wireVersion = 21;

/**
 * Describes a standalone server: no `setName`, no `msg`. Because `logicalSessionTimeoutMinutes` is
 * missing, drivers do not use sessions, transactions or retryable writes.
 */
function helloReply(connectionId: number): CommandReply {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    maxBsonObjectSize: maxDocumentBytes,
    maxMessageSizeBytes: maxMessageBytes,
    maxWriteBatchSize: maxStatements,
    localTime: new Date(),
    connectionId,
    minWireVersion: 0,
    maxWireVersion: wireVersion,
    readOnly: false,
  };
}
