import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import t from 'tap';
import { Connection } from '../../../store/embedded/wire/connection.ts';
import { Budget } from '../../../store/embedded/wire/frame.ts';
import { shortFolder } from './folder.ts';

const opMsg = 2013;
const replyCount = 20;
/** More than a socket's buffers hold: each reply waits for the client to read. */
const longText = 'x'.repeat(4 * 1024 * 1024);

function ping(): Buffer {
  const body = BSON.serialize({ ping: 1, $db: 'a' });
  const message = Buffer.concat([Buffer.alloc(21), body]);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(opMsg, 12);
  return message;
}

t.test('slowly read replies leave no listeners', async (t) => {
  const path = join(shortFolder(t), 'socket');
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    const limits = { messageTimeoutMs: 30_000, replyTimeoutMs: 30_000 };
    new Connection(socket, new Budget(1_000_000), async () => ({ ok: 1, text: longText }), limits);
  });
  server.listen(path);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const client = connect(path);
  t.teardown(() => client.destroy());
  await once(client, 'connect');
  let left = replyCount * longText.length;
  client.on('data', (chunk) => {
    left -= chunk.length;
  });
  const listeners = () => ['close', 'drain'].map((name) => accepted[0]?.listenerCount(name));
  client.write(ping());
  await once(client, 'data');
  client.write(Buffer.concat(Array.from({ length: replyCount - 1 }, ping)));
  while (left > 0) await once(client, 'data');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = listeners();
  client.end();
  t.same(after, [1, 0], 'only that of the connection');
});
