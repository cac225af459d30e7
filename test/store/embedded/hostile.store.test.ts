import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BSON, MongoClient } from 'mongodb';
import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { embeddedUrl } from '../connection.ts';

const headerBytes = 16;

function frame(opcode: number, body: Buffer, length = headerBytes + body.length): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(length, 0);
  header.writeInt32LE(77, 4);
  header.writeInt32LE(opcode, 12);
  return Buffer.concat([header, body]);
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

const bodySection = (document: object) =>
  Buffer.concat([Buffer.from([0]), BSON.serialize(document)]);

const msg = (flags: number, ...sections: Uint8Array[]) =>
  frame(2013, Buffer.concat([int32(flags), ...sections]));

const pingSection = bodySection({ ping: 1, $db: 'admin' });

/** An OP_QUERY for one document. */
const legacyQuery = (namespace: string, query: object) => {
  const name = Buffer.from(`${namespace}\0`);
  return frame(2004, Buffer.concat([int32(0), name, int32(0), int32(-1), BSON.serialize(query)]));
};

const sequence = (content: Uint8Array) =>
  Buffer.concat([
    Buffer.from([1]),
    int32(14 + content.length),
    Buffer.from('documents\0'),
    content,
  ]);

/** A string with a length of 100 bytes, in a shorter document. */
const brokenBson = Buffer.from([0, 14, 0, 0, 0, 2, 97, 0, 100, 0, 0, 0, 0, 0, 0]);

const malformedMessages: [what: string, bytes: Buffer][] = [
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['a length of 0', frame(2013, pingSection, 0)],
  ['a negative length', frame(2013, pingSection, -1)],
  ['a length of 2 GB', frame(2013, pingSection, 0x7fffffff)],
  ['a length just beyond the bound', frame(2013, pingSection, 48_000_001)],
  ['an unknown opcode', frame(4711, pingSection)],
  ['compression', frame(2012, pingSection)],
  ['no body', msg(0)],
  ['an empty message', frame(2013, Buffer.alloc(0))],
  ['an unknown binding flag', msg(4, pingSection)],
  ['a checksum', msg(1, pingSection, int32(1))],
  ['a write that waits for no reply', msg(2, pingSection)],
  ['flags without a body', frame(2013, int32(0))],
  ['a document beyond the message', msg(0, Buffer.concat([Buffer.from([0]), int32(1000)]))],
  ['a document of negative length', msg(0, Buffer.concat([Buffer.from([0]), int32(-5)]))],
  ['a query without an end', frame(2004, Buffer.from([0, 0, 0, 0, 65, 65]))],
];

const path = (url: string) => decodeURIComponent(new URL(url).host);

async function open(t: Test, url: string): Promise<Socket> {
  const socket = connect(path(url));
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function replyTo(socket: Socket, bytes: Buffer): Promise<BSON.Document> {
  socket.write(bytes);
  let received = Buffer.alloc(0);
  while (received.length < headerBytes || received.length < received.readInt32LE(0)) {
    const [chunk] = await once(socket, 'data');
    received = Buffer.concat([received, chunk]);
  }
  // A second reply may have come with the first.
  const reply = received.subarray(0, received.readInt32LE(0));
  if (reply.readInt32LE(8) !== 77) throw new Error('a reply to another request');
  return BSON.deserialize(reply.subarray(headerBytes + (reply.readInt32LE(12) === 2013 ? 5 : 20)));
}

t.test('a connection that violates the protocol is closed, and no other', async (t) => {
  const url = await embeddedUrl();
  const client = await MongoClient.connect(url);
  t.teardown(() => client.close());
  for (const [what, bytes] of malformedMessages) {
    const socket = await open(t, url);
    const closed = once(socket, 'close');
    socket.resume();
    socket.write(bytes);
    await closed;
    t.pass(what);
  }
  t.match(await client.db('a').command({ ping: 1 }), { ok: 1 });
});

t.test('malformed commands get an error reply on a connection that stays open', async (t) => {
  const socket = await open(t, await embeddedUrl());
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
    [msg(0, bodySection({ insert: 'c', $db: 'a' }), sequence(BSON.serialize({ _id: 1 }))), 115],
    [msg(0, sequence(BSON.serialize({ _id: 1 })), bodySection({ insert: 'c', $db: 'a' })), 115],
    [msg(0, pingSection, pingSection), 115],
    [msg(0, pingSection, Buffer.from([9, 0])), 115],
    [legacyQuery('a.c', { find: 1 }), 352],
  ];
  for (const [bytes, code] of cases) t.match(await replyTo(socket, bytes), { ok: 0, code });
  t.match(await replyTo(socket, msg(0, pingSection)), { ok: 1 });
});

t.test('messages may arrive in any pieces', async (t) => {
  const url = await embeddedUrl();
  const socket = await open(t, url);
  const hello = legacyQuery('admin.$cmd', { ismaster: 1 });
  t.match(await replyTo(socket, hello), { ismaster: true, maxWireVersion: 21 });
  for (const byte of msg(0, pingSection).subarray(0, -1)) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await replyTo(socket, msg(0, pingSection).subarray(-1)), { ok: 1 }, 'byte by byte');
  const insert = msg(
    0,
    bodySection({ insert: 'c', documents: [{ _id: 1 }], ordered: true, $db: 'a' }),
  );
  const find = msg(0, bodySection({ find: 'c', filter: {}, $db: 'a' }));
  const replies = Buffer.concat([insert, find]);
  t.match(await replyTo(socket, replies), { ok: 1, n: 1 }, 'the first of two at once');
});

t.test('incomplete messages are buffered up to a limit', async (t) => {
  const url = await embeddedUrl();
  const half = frame(2013, Buffer.alloc(7_000_000), 48_000_000);
  const sockets = await Promise.all(Array.from({ length: 60 }, () => open(t, url)));
  let closed = 0;
  for (const socket of sockets) {
    socket.on('close', () => {
      closed += 1;
    });
    socket.resume();
    socket.write(half);
  }
  await until('some are closed', () => closed > 0);
  for (const socket of sockets) socket.destroy();
  const client = await MongoClient.connect(url);
  t.match(await client.db('a').command({ ping: 1 }), { ok: 1 });
  await client.close();
});

t.test('connections above the limit are closed', async (t) => {
  const url = await embeddedUrl();
  const sockets: Socket[] = [];
  // At once only as many as a listener's backlog holds.
  while (sockets.length < 1010) {
    sockets.push(...(await Promise.all(Array.from({ length: 101 }, () => open(t, url)))));
  }
  await Promise.any(sockets.slice(1000).map((socket) => once(socket.resume(), 'close')));
  const [first] = sockets;
  if (first !== undefined) t.match(await replyTo(first, msg(0, pingSection)), { ok: 1 });
});
