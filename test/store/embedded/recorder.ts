import { connect, createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import type { Test } from 'tap';
import { statementShapes } from '../../../store/embedded/supported.ts';
import { listen } from '../../listen.ts';
import { headerBytes, opMsg, opQuery } from './messages.ts';

/** Codes of requests that the store does not support, or that are not valid. */
const rejectionCodes = [1, 2, 9, 14, 59, 67, 85, 86, 115, 352];
const exactTypes = { promoteValues: false, promoteLongs: false, promoteBuffers: false };

type Fields = Readonly<Record<string, unknown>>;

/** The distinct commands, arguments, operators and types that clients have sent. */
export class Recording {
  readonly messages = new Set<string>();
  /** `command.field`, and `command.field.field` for fields of its statements. */
  readonly fields = new Set<string>();
  readonly queryOperators = new Set<string>();
  readonly updateOperators = new Set<string>();
  readonly pipelineOperators = new Set<string>();
  readonly types = new Set<string>();
  /** Errors of rejected requests. */
  readonly rejections: string[] = [];

  request(message: Buffer): void {
    const opcode = message.readInt32LE(12);
    if (opcode === opMsg) {
      this.messages.add(`OP_MSG, flags ${message.readInt32LE(16)}, section ${message[20]}`);
      this.#command(BSON.deserialize(message.subarray(21), exactTypes));
    } else if (opcode === opQuery) {
      this.messages.add('OP_QUERY');
      const name = message.indexOf(0, headerBytes + 4) + 1;
      this.#command(BSON.deserialize(message.subarray(name + 8), exactTypes));
    } else this.messages.add(String(opcode));
  }

  reply(message: Buffer): void {
    const prelude = message.readInt32LE(12) === opMsg ? 5 : 20;
    const reply = BSON.deserialize(message.subarray(headerBytes + prelude));
    for (const { code, errmsg } of [reply, ...(reply['writeErrors'] ?? [])]) {
      if (rejectionCodes.includes(code)) this.rejections.push(`${code}: ${errmsg}`);
    }
  }

  #command(command: Fields): void {
    const [name = ''] = Object.keys(command);
    this.#operators(command);
    for (const [argument, value] of Object.entries(command)) {
      const path = `${name}.${argument}`;
      this.fields.add(path);
      if (argument === 'documents') continue;
      for (const statement of [value].flat().filter(isObject)) {
        this.#operators(statement);
        if (!Object.hasOwn(statementShapes, path)) continue;
        for (const field of Object.keys(statement)) this.fields.add(`${path}.${field}`);
      }
    }
    for (const stage of [command['pipeline'] ?? []].flat().filter(isObject)) {
      const { $match: _, ...others } = stage;
      for (const operator of operatorsIn(others)) this.pipelineOperators.add(operator);
      if ('$match' in stage) this.pipelineOperators.add('$match');
    }
    // Skip the driver's self-description.
    if (name !== 'hello' && name !== 'ismaster') this.#typesIn(command);
  }

  /** Records the operators of a command, a statement or a stage. */
  #operators({ filter, query, q, $match, update, u }: Fields): void {
    for (const operator of operatorsIn([filter, query, q, $match])) {
      this.queryOperators.add(operator);
    }
    for (const operator of operatorsIn([update, u])) this.updateOperators.add(operator);
  }

  #typesIn(value: unknown): void {
    if (Array.isArray(value)) {
      this.types.add('array');
      for (const element of value) this.#typesIn(element);
    } else if (value === null) this.types.add('null');
    else if (value instanceof Date) this.types.add('date');
    else if (typeof value !== 'object') this.types.add(toAlias(typeof value));
    else if ('_bsontype' in value) this.types.add(toAlias(String(value._bsontype)));
    else {
      this.types.add('object');
      for (const field of Object.values(value)) this.#typesIn(field);
    }
  }
}

const typeAliases: Readonly<Record<string, string>> = {
  boolean: 'bool',
  Double: 'double',
  Int32: 'int',
  // The id of a cursor.
  Long: 'int',
  ObjectId: 'objectId',
};

const toAlias = (type: string): string => typeAliases[type] ?? type;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !('_bsontype' in value);

/** Returns all names with a leading dollar sign, at any depth. */
function operatorsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(operatorsIn);
  if (!isObject(value)) return [];
  const names = Object.keys(value).filter((name) => name.startsWith('$'));
  return [...names, ...Object.values(value).flatMap(operatorsIn)];
}

/** Starts a proxy in front of a store's socket, on a separate port, and records the messages. */
export async function startRecorder(
  t: Test,
  socket: string,
): Promise<{ port: number; recording: Recording }> {
  const recording = new Recording();
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socket);
    for (const end of [near, far]) open.add(end.on('error', () => {}));
    onMessage(near, (message) => recording.request(message));
    onMessage(far, (message) => recording.reply(message));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  t.teardown(() => {
    for (const end of open) end.destroy();
  });
  return { port: await listen(t, server), recording };
}

function onMessage(socket: Socket, handle: (message: Buffer) => void): void {
  let buffered = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= headerBytes && buffered.length >= buffered.readInt32LE(0)) {
      handle(buffered.subarray(0, buffered.readInt32LE(0)));
      buffered = buffered.subarray(buffered.readInt32LE(0));
    }
  });
}
