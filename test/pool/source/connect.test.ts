import { once } from 'node:events';
import { createServer, Socket, type TcpNetConnectOpts } from 'node:net';
import t, { type Test } from 'tap';
import { createConnector } from '../../../pool/source/connect.ts';
import { listen } from './origin.ts';

const dead = ['192.0.2.1', '2001:db8::1', '192.0.2.2', '2001:db8::2'] as const;
const refusing = '127.0.0.7';
const good = '127.0.0.1';
const roundTripMs = 300;

const toAddress = (address: string) => ({ address, family: address.includes(':') ? 6 : 4 });

/**
 * Connects over a simulated network: `good` answers after a round trip, `refusing` refuses at once,
 * and others do not answer.
 */
async function connectTo(t: Test, addresses: readonly string[], timeoutMs = 10_000) {
  const server = createServer();
  const { port } = await listen(t, server);
  const attempts: { host: string; at: number; hasWaited: boolean; socket: Socket }[] = [];
  const startedAt = performance.now();
  let hasWaited = false;
  setTimeout(() => {
    hasWaited = true;
  }, 200);
  const open = (options: TcpNetConnectOpts) => {
    const socket = new Socket();
    const host = String(options.host);
    attempts.push({ host, at: performance.now() - startedAt, hasWaited, socket });
    if (host === good) setTimeout(() => socket.destroyed || socket.connect(options), roundTripMs);
    if (host === refusing) {
      const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      process.nextTick(() => socket.destroy(error));
    }
    t.teardown(() => socket.destroy());
    return socket;
  };
  const find = async () => addresses.map(toAddress);
  const connect = createConnector(find, timeoutMs, open as typeof import('node:net').connect);
  const result = await new Promise<{ error: Error | null; socket: Socket | null }>((resolve) =>
    connect(
      { hostname: 'images.example', protocol: 'http:', port: String(port) },
      (...[error, socket]) => resolve({ error, socket }),
    ),
  );
  return { ...result, attempts, ms: performance.now() - startedAt };
}

for (const [name, addresses] of Object.entries({
  'a dead IPv6 address': [good, dead[1]],
  'a dead second address': [good, dead[0]],
  'a dead first address': [dead[0], good],
  'two dead addresses before it': [dead[0], dead[2], good],
})) {
  t.test(`connects to a distant address next to ${name}`, async (t) => {
    const { socket, attempts, ms } = await connectTo(t, addresses);
    t.equal(socket?.remoteAddress, good);
    t.ok(ms >= roundTripMs, `${ms} ms`);
    t.same(
      attempts.map(({ host }) => host),
      addresses,
    );
    for (const [index, { at }] of attempts.entries()) t.ok(at >= 250 * index - 5, `${at} ms`);
    for (const attempt of attempts) t.equal(attempt.socket.destroyed, attempt.host !== good);
  });
}

t.test('tries all addresses in the first half of a short timeout', async (t) => {
  const others = [...dead, '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'];
  const { attempts } = await connectTo(t, others, 1_500);
  t.equal(attempts.length, others.length);
});

t.test('alternates between the families, and continues at once after a failure', async (t) => {
  const { socket, attempts } = await connectTo(t, [refusing, dead[0], dead[1], good, dead[3]]);
  t.equal(socket?.remoteAddress, good);
  const hosts = attempts.map(({ host }) => host);
  t.same(hosts.slice(0, 5), [refusing, dead[1], dead[0], dead[3], good].slice(0, hosts.length));
  t.equal(attempts[1]?.hasWaited, false);
});

t.test('ends after its timeout if no address answers, with at most 8 attempts', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`);
  const { error, attempts, ms } = await connectTo(t, many, 4_000);
  t.match(error, { code: 'UND_ERR_CONNECT_TIMEOUT' });
  t.ok(ms >= 3_990, `${ms} ms`);
  t.equal(attempts.length, 8);
  t.ok(attempts.every(({ socket }) => socket.destroyed));
});

t.test('reports the first failure if all addresses fail', async (t) => {
  const { error, attempts } = await connectTo(t, [refusing, refusing]);
  t.match(error, { code: 'ECONNREFUSED' });
  t.equal(attempts.length, 2);
});

t.test('connects to an IP address in a URL', async (t) => {
  const server = createServer((socket) => socket.end());
  const { port } = await listen(t, server);
  const find = async (host: string) => [toAddress(host)];
  const connect = createConnector(find, 1_000);
  const socket = await new Promise<Socket | null>((resolve) =>
    connect({ hostname: good, protocol: 'http:', port: String(port) }, (_, opened) =>
      resolve(opened),
    ),
  );
  t.ok(socket);
  socket?.resume();
  if (socket !== null) await once(socket, 'close');
});
