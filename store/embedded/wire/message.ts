import { type Document, decode, encode, parse } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { maxMessageBytes } from '../supported.ts';

const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;

/**
 * The required flag bits. The server supports none: no client sends checksums or unacknowledged
 * writes.
 */
const requiredFlags = 0xffff;

const flagsBytes = 4;
const bodySection = 0;

/** The handshake includes these fields if the URL contains a user name. */
const credentialFields = ['saslSupportedMechs', 'speculativeAuthenticate'];

const queryFailure = 2;
const awaitCapable = 8;

export interface CommandRequest {
  readonly id: number;
  /** Whether this is a legacy OP_QUERY, which drivers still use to open a connection. */
  readonly legacy: boolean;
  /**
   * Decodes the command.
   * @throws {ReplyError} for invalid BSON, which gets an error reply
   */
  command(): Document;
}

/**
 * Reads a message (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/).
 * @throws {MalformedMessage}
 */
export function readRequest(message: Buffer): CommandRequest {
  const id = message.readInt32LE(4);
  switch (message.readInt32LE(12)) {
    case opMsg:
      return { id, legacy: false, command: readMsg(message) };
    case opQuery:
      return { id, legacy: true, command: readQuery(message) };
    default:
      throw new MalformedMessage(`the opcode ${message.readInt32LE(12)}`);
  }
}

function readMsg(message: Buffer): CommandRequest['command'] {
  const kindAt = headerBytes + flagsBytes;
  if (message.length <= kindAt) throw new MalformedMessage('no body');
  const flags = message.readInt32LE(headerBytes);
  if ((flags & requiredFlags) !== 0) throw new MalformedMessage(`the flags ${flags}`);
  const body = documentAt(message, kindAt + 1);
  const alone = message[kindAt] === bodySection && kindAt + 1 + body.length === message.length;
  return () => {
    if (alone) return decode(body);
    throw notSupported('a message with several sections, as for bulk writes,');
  };
}

function readQuery(message: Buffer): CommandRequest['command'] {
  const nameAt = headerBytes + flagsBytes;
  const nameEnd = message.indexOf(0, nameAt);
  if (nameEnd === -1) throw new MalformedMessage('an unterminated name');
  const namespace = message.toString('utf8', nameAt, nameEnd);
  // Skips numberToSkip and numberToReturn after the name.
  const query = documentAt(message, nameEnd + 1 + 8);
  return () => {
    const handshake = parse(query);
    if (credentialFields.some((field) => Object.hasOwn(handshake, field))) {
      throw new ReplyError(
        18,
        'the embedded store has no users: remove the user name and password from the URL',
      );
    }
    const command = decode(query);
    const [name = ''] = Object.keys(command);
    if (namespace === 'admin.$cmd' && name === 'ismaster') return { ...command, $db: 'admin' };
    throw new ReplyError(352, `Unsupported OP_QUERY command: ${name}`);
  };
}

function documentAt(message: Buffer, start: number): Buffer {
  const length = start + 4 <= message.length ? message.readInt32LE(start) : 0;
  if (length < 5 || start + length > message.length) {
    throw new MalformedMessage(`a document of ${length} bytes`);
  }
  return message.subarray(start, start + length);
}

/** A reply's fields without `ok`; JavaScript numbers become int32 or double. */
export interface CommandReply {
  readonly [field: string]: unknown;
}

export function writeReply(request: CommandRequest, reply: CommandReply): Buffer {
  const document = encode(reply);
  const prelude = request.legacy ? Buffer.alloc(20) : Buffer.alloc(5);
  if (request.legacy) {
    prelude.writeInt32LE(awaitCapable | (reply['ok'] === 1 ? 0 : queryFailure), 0);
    prelude.writeInt32LE(1, 16);
  }
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(headerBytes + prelude.length + document.length, 0);
  header.writeInt32LE(request.id, 8);
  header.writeInt32LE(request.legacy ? opReply : opMsg, 12);
  return Buffer.concat([header, prelude, document]);
}

export const headerBytes = 16;

/** The client violates the protocol, so the server closes the connection without replying. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Assembles a connection's messages. Joins chunks only when a message can be complete. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = headerBytes;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /**
   * The next complete message, header included.
   * @throws {MalformedMessage} as soon as a header announces an impossible length
   */
  take(): Buffer | null {
    if (this.#length < this.#needed) return null;
    const bytes = Buffer.concat(this.#chunks);
    const announced = bytes.readInt32LE(0);
    if (announced < headerBytes || announced > maxMessageBytes) {
      throw new MalformedMessage(`a message of ${announced} bytes`);
    }
    const isComplete = bytes.length >= announced;
    const rest = isComplete ? bytes.subarray(announced) : bytes;
    this.#chunks = [rest];
    this.#length = rest.length;
    this.#needed = isComplete ? headerBytes : announced;
    return isComplete ? bytes.subarray(0, announced) : null;
  }
}
