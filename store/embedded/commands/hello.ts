import { maxDocumentBytes, maxMessageBytes, maxStatements } from '../limits.ts';
import type { Reply } from './reply.ts';

/** The wire version of MongoDB 7.0. */
const wireVersion = 21;

/**
 * Describes a standalone server: neither `setName` nor `msg`. Without
 * `logicalSessionTimeoutMinutes` drivers do not use sessions, transactions and retryable writes.
 */
export function helloReply(connectionId: number): Reply {
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
