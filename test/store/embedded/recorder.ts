import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import type { Test } from 'tap';

const headerBytes = 16;
const opQuery = 2004;
const opMsg = 2013;
/** Codes of requests that the store does not support, or that are not valid. */
const refusalCodes = [1, 2, 9, 14, 59, 67, 85, 86, 115, 352];

type Fields = Readonly<Record<string, unknown>>;

/** The distinct commands, arguments, operators and types that clients have sent. */
export class Recording {
  readonly opcodes = new Set<string>();
  /** `command.field`, and `command.field.field` for the fields of its statements. */
  readonly fields = new Set<string>();
  readonly queryOperators = new Set<string>();
  readonly updateOperators = new Set<string>();
  readonly pipelineOperators = new Set<string>();
  readonly types = new Set<string>();
  /** Requests that the store has refused. */
  readonly refused: string[] = [];

  request(message: Buffer): void {
    const opcode = message.readInt32LE(12);
    if (opcode === opMsg) {
      this.opcodes.add(`OP_MSG, flags ${message.readInt32LE(16)}, section ${message[20]}`);
      this.#command(BSON.deserialize(message.subarray(21), exactTypes));
    } else if (opcode === opQuery) {
      this.opcodes.add('OP_QUERY');
      const name = message.indexOf(0, headerBytes + 4) + 1;
      this.#command(BSON.deserialize(message.subarray(name + 8), exactTypes));
    } else this.opcodes.add(String(opcode));
  }

  reply(message: Buffer): void {
    const prelude = message.readInt32LE(12) === opMsg ? 5 : 20;
    const reply = BSON.deserialize(message.subarray(headerBytes + prelude));
    for (const { code, errmsg } of [reply, ...(reply['writeErrors'] ?? [])]) {
      if (refusalCodes.includes(code)) this.refused.push(`${code}: ${errmsg}`);
    }
  }

  #command(command: Fields): void {
    const [name = ''] = Object.keys(command);
    for (const field of Object.keys(command)) this.fields.add(`${name}.${field}`);
    for (const field of ['documents', 'updates', 'deletes', 'indexes', 'pipeline']) {
      for (const statement of listOf(command[field])) this.#statement(name, field, statement);
    }
    for (const field of Object.keys(fieldsOf(command['cursor']))) {
      this.fields.add(`${name}.cursor.${field}`);
    }
    this.#filter(command['filter'] ?? command['query']);
    this.#update(command['update']);
    // The driver's description of itself is not recorded.
    if (name !== 'hello' && name !== 'ismaster') this.#typesIn(command);
  }

  #statement(command: string, field: string, statement: unknown): void {
    if (field === 'documents') return;
    if (field === 'pipeline') return this.#stage(fieldsOf(statement));
    for (const name of Object.keys(fieldsOf(statement))) {
      this.fields.add(`${command}.${field}.${name}`);
    }
    this.#filter(fieldsOf(statement)['q']);
    this.#update(fieldsOf(statement)['u']);
  }

  #stage(stage: Fields): void {
    for (const [name, operand] of Object.entries(stage)) {
      this.pipelineOperators.add(name);
      if (name === '$match') this.#filter(operand);
      else for (const text of operatorsIn(operand)) this.pipelineOperators.add(text);
    }
  }

  #filter(filter: unknown): void {
    for (const operator of operatorsIn(filter)) this.queryOperators.add(operator);
  }

  #update(update: unknown): void {
    for (const operator of operatorsIn(update)) this.updateOperators.add(operator);
  }

  #typesIn(value: unknown): void {
    if (Array.isArray(value)) {
      this.types.add('array');
      for (const element of value) this.#typesIn(element);
    } else if (value === null) this.types.add('null');
    else if (value instanceof Date) this.types.add('date');
    else if (typeof value !== 'object') this.types.add(aliasOf(typeof value));
    else if ('_bsontype' in value) this.types.add(aliasOf(String(value._bsontype)));
    else {
      this.types.add('object');
      for (const field of Object.values(value)) this.#typesIn(field);
    }
  }
}

const exactTypes = { promoteValues: false, promoteLongs: false, promoteBuffers: false };

const typeAliases: Readonly<Record<string, string>> = {
  boolean: 'bool',
  Double: 'double',
  Int32: 'int',
  Long: 'long',
  ObjectId: 'objectId',
};

const aliasOf = (type: string): string => typeAliases[type] ?? type;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** All names with a leading dollar sign, at any depth. */
function operatorsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(operatorsIn);
  if (typeof value !== 'object' || value === null || '_bsontype' in value) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.startsWith('$') ? [name] : []),
    ...operatorsIn(inner),
  ]);
}

/** A proxy of a store's socket, on a port of its own, that records the messages. */
export async function startRecorder(
  t: Test,
  socket: string,
): Promise<{ port: number; recording: Recording }> {
  const recording = new Recording();
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socket);
    for (const end of [near, far]) open.add(end.on('error', () => {}));
    near.on(
      'data',
      eachMessage((message) => recording.request(message)),
    );
    far.on(
      'data',
      eachMessage((message) => recording.reply(message)),
    );
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    for (const end of open) end.destroy();
  });
  return { port: (server.address() as AddressInfo).port, recording };
}

function eachMessage(take: (message: Buffer) => void): (chunk: Buffer) => void {
  let buffered = Buffer.alloc(0);
  return (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= headerBytes && buffered.length >= buffered.readInt32LE(0)) {
      take(buffered.subarray(0, buffered.readInt32LE(0)));
      buffered = buffered.subarray(buffered.readInt32LE(0));
    }
  };
}
