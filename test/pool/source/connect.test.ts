import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createConnector } from '../../../pool/source/connect.ts';
import { listen } from './origin.ts';

const refusing = '127.0.0.7';
const good = '127.0.0.1';

async function connectTo(
  t: Test,
  addresses: readonly string[],
  { hostname = 'images.example', protocol = 'http:', timeoutMs = 10_000 } = {},
) {
  const { port } = await listen(
    t,
    createServer((socket) => t.teardown(() => socket.destroy())),
  );
  const find = async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const connect = createConnector(find, timeoutMs);
  return new Promise<{ error: Error | null; socket: Socket | null }>((resolve) =>
    connect({ hostname, protocol, port: String(port) }, (...[error, socket]) => {
      t.teardown(() => socket?.destroy());
      resolve({ error, socket });
    }),
  );
}

t.test('connects to the next address after an unreachable one', async (t) => {
  for (const addresses of [
    [good],
    [refusing, good],
    ['2001:db8::1', refusing, good],
    [good, refusing],
  ]) {
    const { socket } = await connectTo(t, addresses);
    t.equal(socket?.remoteAddress, good, addresses.join());
  }
});

t.test('reports the first failure if all addresses fail', async (t) => {
  for (const addresses of [[refusing], [refusing, '127.0.0.8']]) {
    t.match((await connectTo(t, addresses)).error, { code: 'ECONNREFUSED' });
  }
});

t.test('ends a handshake after its timeout', async (t) => {
  const { error } = await connectTo(t, [good], { protocol: 'https:', timeoutMs: 500 });
  t.match(error, { code: 'UND_ERR_CONNECT_TIMEOUT' });
});

t.test('connects to an IP address in a URL', async (t) => {
  const { socket } = await connectTo(t, [good], { hostname: good });
  t.equal(socket?.remoteAddress, good);
  socket?.resume().destroy();
  if (socket !== null) await once(socket, 'close');
});
