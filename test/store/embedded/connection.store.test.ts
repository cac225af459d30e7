import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { ClientConnection } from '../../../store/embedded/wire/connection.ts';
import { until } from '../../until.ts';
import { pingMessage } from './messages.ts';
import { shortFolder } from './stores.ts';

/** More than a socket's buffers hold: each reply waits for the client to read. */
const longText = 'x'.repeat(4 * 1024 * 1024);

t.test('leaves no listeners after slowly read replies', async (t) => {
  const path = join(shortFolder(t), 'socket');
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    new ClientConnection(socket, async () => ({ ok: 1, text: longText }));
  });
  server.listen(path);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const client = connect(path);
  t.teardown(() => client.destroy());
  let received = 0;
  client.on('data', (chunk) => {
    received += chunk.length;
  });
  const replies = 20;
  client.write(Buffer.concat(Array.from({ length: replies }, () => pingMessage)));
  await until('all replies', () => received > replies * longText.length);
  const listeners = () => ['close', 'drain'].map((name) => accepted[0]?.listenerCount(name)).join();
  await until("only the connection's own listener", () => listeners() === '0,0');
});
