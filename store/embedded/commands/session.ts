import { CommandError } from '../errors.ts';
import { MAX_DOCUMENT_BYTES, MAX_MESSAGE_BYTES, MAX_STATEMENTS } from '../limits.ts';
import type { Call, Reply } from './call.ts';

/** The version whose behaviour is followed, and the wire version that goes with it. */
const VERSION = '7.0.0';
const WIRE_VERSION = 21;

export function hello(call: Call): Reply {
  call.given.ignore(call.name, 'helloOk', 'client', 'compression', 'backpressure', 'forShell');
  call.given.ignore(
    'loadBalanced',
    'hostInfo',
    'topologyVersion',
    'maxAwaitTimeMS',
    'saslSupportedMechs',
    'speculativeAuthenticate',
  );
  call.given.end();
  return helloReply(call.connection);
}

/** Describes a standalone server: neither `setName` nor `msg`. */
export function helloReply(connectionId: number): Reply {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    maxBsonObjectSize: MAX_DOCUMENT_BYTES,
    maxMessageSizeBytes: MAX_MESSAGE_BYTES,
    maxWriteBatchSize: MAX_STATEMENTS,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
  };
}

export function ping(call: Call): Reply {
  call.given.ignore(call.name);
  call.given.end();
  return {};
}

export function buildInfo(call: Call): Reply {
  call.given.ignore(call.name);
  call.given.end();
  const versionArray = [...VERSION.split('.').map(Number), 0];
  return { version: VERSION, versionArray, maxBsonObjectSize: MAX_DOCUMENT_BYTES };
}

/** Sessions hold nothing here. */
export function endSessions(call: Call): Reply {
  call.given.array('endSessions');
  call.given.end();
  return {};
}

/** Who may open the socket may do everything; there is nobody to log in as. */
export function authenticate(): Reply {
  throw new CommandError(
    18,
    'the embedded store has no users: leave the credentials out of the URL',
  );
}
