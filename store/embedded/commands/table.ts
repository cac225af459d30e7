import type { Document } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import { Call, type Reply, type Store } from './call.ts';
import * as collections from './collections.ts';
import { errorReply } from './error-reply.ts';
import { findAndModify } from './find-and-modify.ts';
import * as indexes from './indexes.ts';
import * as read from './read.ts';
import * as session from './session.ts';
import * as write from './write.ts';

type Handler = (call: Call) => Reply;

/** Every command that is offered, by its name on the wire. */
const COMMANDS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['hello', session.hello],
  ['ismaster', session.hello],
  ['isMaster', session.hello],
  ['ping', session.ping],
  ['buildInfo', session.buildInfo],
  ['buildinfo', session.buildInfo],
  ['endSessions', session.endSessions],
  ['saslStart', session.authenticate],
  ['saslContinue', session.authenticate],
  ['authenticate', session.authenticate],
  ['insert', write.insert],
  ['update', write.update],
  ['delete', write.deleteCommand],
  ['findAndModify', findAndModify],
  ['find', read.find],
  ['getMore', read.getMore],
  ['killCursors', read.killCursors],
  ['count', read.count],
  ['aggregate', read.aggregateCommand],
  ['createIndexes', indexes.createIndexes],
  ['listIndexes', indexes.listIndexes],
  ['dropIndexes', indexes.dropIndexes],
  ['listCollections', collections.listCollections],
  ['drop', collections.drop],
  ['dropDatabase', collections.dropDatabase],
]);

/**
 * Runs a command. The reply comes when everything that it rests on is on disk, the writes of other
 * clients that it has seen included: so what a client has been told is never lost.
 */
export async function runCommand(
  store: Store,
  command: Document,
  connection: number,
): Promise<{ readonly [field: string]: unknown }> {
  let call: Call | undefined;
  let reply: { readonly [field: string]: unknown };
  try {
    const [name = ''] = Object.keys(command);
    const handler = COMMANDS.get(name);
    if (handler === undefined) throw new CommandError(59, `no such command: '${name}'`);
    call = new Call(store, command, name, connection);
    reply = { ...handler(call), ok: 1 };
  } catch (error) {
    reply = errorReply(asCommandError(error));
  }
  try {
    if (call !== undefined) await store.catalog.journal.durable(call.restsOn);
    return reply;
  } catch (error) {
    return errorReply(asCommandError(error));
  }
}

function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  // A mistake in this server, told to the client rather than let it end the thread for everybody.
  return new CommandError(
    1,
    error instanceof Error ? `${error.name}: ${error.message}` : 'unknown',
  );
}
