import { type Document, decode, encode, setField } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import { MAX_STATEMENTS } from '../limits.ts';
import { crc32c } from './crc32c.ts';
import { HEADER_BYTES, MalformedMessage } from './frame.ts';
import { Reader } from './reader.ts';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;

const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;
/** The flags in this half are binding: a message with an unknown one must not be read. */
const BINDING_FLAGS = 0xffff;

const QUERY_FAILURE = 2;
const AWAIT_CAPABLE = 8;

/** A request, with what is needed to reply to it. */
export interface Request {
  readonly id: number;
  /** Whether it came as the legacy OP_QUERY, which drivers still open a connection with. */
  readonly legacy: boolean;
  /** False for an unacknowledged write. */
  readonly wantsReply: boolean;
  /**
   * Decodes the command.
   * @throws {CommandError} when its BSON is not sound, which is worth a reply
   */
  command(): Document;
}

/**
 * Reads a message (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/).
 * @throws {MalformedMessage}
 */
export function readRequest(message: Buffer): Request {
  const id = message.readInt32LE(4);
  switch (message.readInt32LE(12)) {
    case OP_MSG:
      return readMsg(message, id);
    case OP_QUERY:
      return readQuery(message, id);
    default:
      throw new MalformedMessage(`the opcode ${message.readInt32LE(12)}`);
  }
}

function readMsg(message: Buffer, id: number): Request {
  const reader = new Reader(message, HEADER_BYTES, message.length);
  const flags = reader.int32();
  if ((flags & BINDING_FLAGS & ~(CHECKSUM_PRESENT | MORE_TO_COME)) !== 0) {
    throw new MalformedMessage(`the flags ${flags}`);
  }
  let end = message.length;
  if (flags & CHECKSUM_PRESENT) {
    end -= 4;
    if (end < reader.position || crc32c(message.subarray(0, end)) !== message.readUInt32LE(end)) {
      throw new MalformedMessage('a wrong checksum');
    }
  }
  const { body, sequences } = readSections(new Reader(message, reader.position, end));
  return {
    id,
    legacy: false,
    wantsReply: (flags & MORE_TO_COME) === 0,
    command: () => joined(body, sequences),
  };
}

type Sequences = ReadonlyMap<string, readonly Buffer[]>;

function readSections(reader: Reader): { body: Buffer; sequences: Sequences } {
  let body: Buffer | undefined;
  const sequences = new Map<string, readonly Buffer[]>();
  while (!reader.done) {
    const kind = reader.byte();
    if (kind === 0 && body === undefined) {
      body = reader.document();
    } else if (kind === 1) {
      const section = reader.section();
      const field = section.cstring();
      if (sequences.has(field)) throw new MalformedMessage(`two sequences of ${field}`);
      const documents: Buffer[] = [];
      while (!section.done) documents.push(section.document());
      sequences.set(field, documents);
    } else {
      throw new MalformedMessage(`a section of kind ${kind}`);
    }
  }
  if (body === undefined) throw new MalformedMessage('no body');
  return { body, sequences };
}

function joined(body: Buffer, sequences: Sequences): Document {
  const command = decode(body);
  for (const [field, documents] of sequences) {
    if (Object.hasOwn(command, field)) throw new CommandError(9, `two values for ${field}`);
    if (documents.length > MAX_STATEMENTS) {
      throw new CommandError(2, `Write batch sizes must be between 1 and ${MAX_STATEMENTS}`);
    }
    setField(command, field, documents.map(decode));
  }
  return command;
}

function readQuery(message: Buffer, id: number): Request {
  const reader = new Reader(message, HEADER_BYTES, message.length);
  reader.int32();
  const namespace = reader.cstring();
  reader.int32();
  reader.int32();
  const query = reader.document();
  return {
    id,
    legacy: true,
    wantsReply: true,
    command() {
      const command = decode(query);
      const [name = ''] = Object.keys(command);
      if (!namespace.endsWith('.$cmd') || !/^(hello|ismaster)$/i.test(name)) {
        throw new CommandError(352, `Unsupported OP_QUERY command: ${name}`);
      }
      return { ...command, $db: namespace.slice(0, -'.$cmd'.length) };
    },
  };
}

/** The bytes of a reply. */
export function writeReply(request: Request, reply: { readonly [field: string]: unknown }): Buffer {
  const document = encode(reply);
  const prelude = request.legacy ? Buffer.alloc(20) : Buffer.alloc(5);
  if (request.legacy) {
    prelude.writeInt32LE(AWAIT_CAPABLE | (reply['ok'] === 1 ? 0 : QUERY_FAILURE), 0);
    prelude.writeInt32LE(1, 16);
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + prelude.length + document.length, 0);
  header.writeInt32LE(request.id, 8);
  header.writeInt32LE(request.legacy ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, prelude, document]);
}
