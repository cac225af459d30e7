import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BSON, MongoClient } from 'mongodb';
import t, { type Test } from 'tap';
import { embeddedUrl } from '../connection.ts';
import {
  bodySection,
  frame,
  headerBytes,
  int32,
  msg,
  opMsg,
  opQuery,
  pingMessage,
  pingSection,
  requestId,
} from './messages.ts';

/** Returns an OP_QUERY for one document. */
const legacyQuery = (namespace: string, query: object) => {
  const name = Buffer.from(`${namespace}\0`);
  return frame(
    opQuery,
    Buffer.concat([int32(0), name, int32(0), int32(-1), BSON.serialize(query)]),
  );
};

/** A section with a sequence of one document, like in bulk writes. */
const document = BSON.serialize({ _id: 1 });
const sequence = Buffer.concat([
  Buffer.from([1]),
  int32(14 + document.length),
  Buffer.from('documents\0'),
  document,
]);

/** A string that declares 100 bytes in a shorter document. */
const brokenBson = Buffer.from([0, 14, 0, 0, 0, 2, 97, 0, 100, 0, 0, 0, 0, 0, 0]);

const malformedMessages: Readonly<Record<string, Buffer>> = {
  HTTP: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  'a length of 0': frame(opMsg, pingSection, 0),
  'a negative length': frame(opMsg, pingSection, -1),
  'a length of 2 GB': frame(opMsg, pingSection, 0x7fffffff),
  'a length just above the limit': frame(opMsg, pingSection, 48_000_001),
  'an unknown opcode': frame(4711, pingSection),
  compression: frame(2012, pingSection),
  'no body': msg(0),
  'an empty message': frame(opMsg, Buffer.alloc(0)),
  'an unknown required flag': msg(4, pingSection),
  'a checksum': msg(1, pingSection, int32(1)),
  'a write without a reply': msg(2, pingSection),
  'a document longer than the message': msg(0, Buffer.from([0]), int32(1000)),
  'a document of negative length': msg(0, Buffer.from([0]), int32(-5)),
  'a query without an end': frame(opQuery, Buffer.from([0, 0, 0, 0, 65, 65])),
};

async function open(t: Test): Promise<Socket> {
  const socket = connect(decodeURIComponent(new URL(await embeddedUrl()).host));
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const openMany = (t: Test, count: number) =>
  Promise.all(Array.from({ length: count }, () => open(t)));

async function replyTo(socket: Socket, bytes: Buffer): Promise<BSON.Document> {
  socket.write(bytes);
  let received = Buffer.alloc(0);
  while (received.length < headerBytes || received.length < received.readInt32LE(0)) {
    const [chunk] = await once(socket, 'data');
    received = Buffer.concat([received, chunk]);
  }
  // A second reply can arrive with the first.
  const reply = received.subarray(0, received.readInt32LE(0));
  if (reply.readInt32LE(8) !== requestId) throw new Error('a reply to another request');
  return BSON.deserialize(reply.subarray(headerBytes + (reply.readInt32LE(12) === opMsg ? 5 : 20)));
}

t.test('closes only the connection that violates the protocol', async (t) => {
  const client = await MongoClient.connect(await embeddedUrl());
  t.teardown(() => client.close());
  for (const [what, bytes] of Object.entries(malformedMessages)) {
    const socket = await open(t);
    const closed = once(socket.resume(), 'close');
    socket.write(bytes);
    await t.resolves(closed, what);
  }
  t.match(await client.db('a').command({ ping: 1 }), { ok: 1 });
});

t.test('replies with an error to malformed commands, and keeps the connection open', async (t) => {
  const socket = await open(t);
  let deep: object = {};
  for (let level = 0; level < 200; level += 1) deep = { deep };
  const cases: [bytes: Buffer, code: number][] = [
    [msg(0, brokenBson), 22],
    [msg(0, bodySection({ ping: 1, deep, $db: 'a' })), 15],
    [msg(0, bodySection({ ping: 1 })), 14],
    [msg(0, bodySection({ ping: 1, $db: '../a' })), 73],
    [msg(0, bodySection({})), 59],
    [msg(0, bodySection({ constructor: 1, $db: 'a' })), 59],
    [msg(0, bodySection({ insert: 'c', documents: 1, $db: 'a' })), 14],
    [msg(0, bodySection({ insert: 'c', $db: 'a' }), sequence), 115],
    [msg(0, sequence, bodySection({ insert: 'c', $db: 'a' })), 115],
    [msg(0, pingSection, pingSection), 115],
    [msg(0, pingSection, Buffer.from([9, 0])), 115],
    [legacyQuery('a.c', { find: 1 }), 352],
  ];
  for (const [bytes, code] of cases) t.match(await replyTo(socket, bytes), { ok: 0, code });
  t.match(await replyTo(socket, pingMessage), { ok: 1 });
});

t.test('accepts messages in any pieces', async (t) => {
  const socket = await open(t);
  const hello = legacyQuery('admin.$cmd', { ismaster: 1 });
  t.match(await replyTo(socket, hello), { ismaster: true, maxWireVersion: 21 });
  for (const byte of pingMessage.subarray(0, -1)) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await replyTo(socket, pingMessage.subarray(-1)), { ok: 1 }, 'byte by byte');
  const command = { insert: 'c', documents: [{ _id: 1 }], ordered: true, $db: 'a' };
  const both = Buffer.concat([msg(0, bodySection(command)), pingMessage]);
  t.match(await replyTo(socket, both), { ok: 1, n: 1 }, 'the first of two at once');
});

t.test('closes connections above the limit', async (t) => {
  const sockets: Socket[] = [];
  // Connect in batches as large as a listener's backlog: a response shows that the store accepted
  // the whole batch.
  for (let batch = 0; batch < 9; batch += 1) {
    sockets.push(...(await openMany(t, 101)));
    t.match(await replyTo(sockets.at(-1) as Socket, pingMessage), { ok: 1 });
  }
  sockets.push(...(await openMany(t, 101)));
  await Promise.any(sockets.slice(1000).map((socket) => once(socket.resume(), 'close')));
  const [first] = sockets;
  if (first !== undefined) t.match(await replyTo(first, pingMessage), { ok: 1 });
});
