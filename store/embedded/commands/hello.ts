import { MAX_DOCUMENT_BYTES, MAX_MESSAGE_BYTES, MAX_STATEMENTS } from '../limits.ts';
import type { Reply } from './reply.ts';

/** The wire version of MongoDB 7.0. */
const WIRE_VERSION = 21;

/**
 * Describes a standalone server: neither `setName` nor `msg`. Without
 * `logicalSessionTimeoutMinutes` drivers do not use sessions, transactions and retryable writes.
 */
export function helloReply(connectionId: number): Reply {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    maxBsonObjectSize: MAX_DOCUMENT_BYTES,
    maxMessageSizeBytes: MAX_MESSAGE_BYTES,
    maxWriteBatchSize: MAX_STATEMENTS,
    localTime: new Date(),
    connectionId,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
  };
}
