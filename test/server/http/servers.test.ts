import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type Network, parseNetwork } from '../../../contract/networks.ts';
import { App, type StartHttpServer } from '../../../server/http/app.ts';
import { chooseHttpServer } from '../../../server/http/choose-server.ts';
import {
  ClientConnections,
  descriptorLimit,
  maxConnections,
} from '../../../server/http/connection-limit.ts';
import { NodeServer, type NodeTimeouts } from '../../../server/http/node-server.ts';
import type { HttpApp } from '../../../server/http/request.ts';
import type { Headers, HttpResponse } from '../../../server/http/responses.ts';
import { loadUws } from '../../../server/http/uws-library.ts';
import { freePort } from '../../service/service.ts';
import { until } from '../../until.ts';

const many = 1_000;
/** More bytes than the sockets buffer. */
const bodyBytes = 32 * 1024 * 1024;
/** uWebSockets.js keeps the connection after a response of this size, however many are open. */
const mediumBytes = 100 * 1024;

type Sender = (bytes: string, localAddress?: string) => Promise<Socket>;

/** Returns an app with one large response, its address, and the statuses of ended requests. */
async function serve(t: Test, start: StartHttpServer) {
  const body = Buffer.alloc(bodyBytes);
  const large: HttpResponse = { status: 200, headers: [], body };
  const medium = Buffer.alloc(mediumBytes);
  const ended: (number | null)[] = [];
  const injected: Headers = [
    ['x-first', 'a'],
    ['x-name', 'a\r\nset-cookie: b=c'],
  ];
  const app = new App(
    [
      {
        path: '/injected',
        methods: () => ['GET'],
        handler: (request) => request.respond({ status: 200, headers: injected, body: 'a' }),
      },
      { path: '/', methods: () => ['GET'], handler: (request) => request.respond(large) },
      {
        path: '/small',
        methods: () => ['GET'],
        handler: (request) => request.respond({ status: 200, headers: [], body: 'x' }),
      },
      {
        path: '/medium',
        methods: () => ['GET', 'HEAD'],
        handler: (request) => request.respond({ status: 200, headers: [], body: medium }),
      },
      {
        path: '/unchanged',
        methods: () => ['GET'],
        handler: (request) => request.respond({ status: 304, headers: [], body: 'four' }),
      },
      {
        path: '/body',
        methods: () => ['POST'],
        handler: async (request) => {
          await request.readBody(bodyBytes);
          request.respond(large);
        },
      },
    ],
    { onEnd: (_, status) => ended.push(status), onError: () => {} },
    'x-',
  );
  const port = await freePort();
  t.equal(await app.listen(start, '127.0.0.1', port), true);
  t.teardown(() => app.drain(0, 0));
  const send = async (bytes: string, localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  return { app, send, ended };
}

/** Reads until the server closes the connection. */
async function rest(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** Sends the same on many connections, and reads no response. */
const flood = (
  send: Sender,
  count: number,
  bytes: string,
  from: (index: number) => string,
): Promise<Socket[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const socket = await send(bytes, from(index));
      return socket.pause();
    }),
  );

/** Returns a connection's first bytes, or '' if it closes. */
async function firstBytes(socket: Socket): Promise<string> {
  if (socket.destroyed) return '';
  const received = once(socket, 'data').then(([bytes]) => String(bytes));
  socket.resume();
  return Promise.race([received, once(socket, 'close').then(() => '')]);
}

const partOfHead = 'GET / HTTP/1.1\r\nHost: x\r\n';
const partOfBody = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab';

const patient: NodeTimeouts = {
  keepAliveTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  stalledTimeout: 10_000,
};

t.test('Node: handles no request after a malformed request', async (t) => {
  const { send, ended } = await serve(
    t,
    (host) => new NodeServer(host, new ClientConnections(many), patient),
  );
  const twoHosts = `${partOfHead}Host: y\r\n\r\n`;
  const text = (await rest(await send(`${twoHosts}${partOfHead}\r\n`))).toString();
  t.match(text, /^HTTP\/1\.1 400 /);
  t.same(ended, [400]);
});

t.test('Node: disconnects clients that stop in the middle', async (t) => {
  const { send, ended } = await serve(
    t,
    (host) =>
      new NodeServer(host, new ClientConnections(many), {
        ...patient,
        headersTimeout: 200,
        requestTimeout: 400,
        connectionsCheckingInterval: 50,
        stalledTimeout: 400,
      }),
  );
  for (const part of [partOfHead, partOfBody]) {
    const text = (await rest(await send(part))).toString();
    t.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    t.match(text, /connection: close\r\n[\s\S]*"code":"request_timeout"/);
  }
  await until('the request with a body has ended', () => ended.length === 1);

  const stalled = await send(`${partOfHead}\r\n`);
  stalled.pause();
  await until('the one that reads nothing is disconnected', () => ended.length === 2);
  t.equal(ended[1], null, 'the request counts as aborted');
});

t.test('Node: keeps a client connected that reads slowly', async (t) => {
  const { send, ended } = await serve(
    t,
    // Less than the body takes, and more than a busy machine suspends this process.
    (host) =>
      new NodeServer(host, new ClientConnections(many), { ...patient, stalledTimeout: 1_000 }),
  );
  const socket = await send(`${partOfHead}\r\n`);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.byteLength;
    socket.pause();
    setTimeout(() => socket.resume(), 3);
  });
  await until('the whole body is received', () => received > bodyBytes);
  t.same(ended, [200]);
});

const uws = loadUws();

for (const name of typeof uws === 'string' ? ['node'] : ['node', 'uws']) {
  t.test(`${name}: reports a header with a line break as a service error`, async (t) => {
    const server = await chooseHttpServer(name as 'node' | 'uws', new ClientConnections(many));
    if (typeof server === 'string') throw new Error(server);
    const { start } = server;
    const { send, ended } = await serve(t, start);
    const close = 'Connection: close\r\nContent-Length: 1\r\n\r\na';
    const text = await rest(await send(`GET /injected HTTP/1.1\r\nHost: x\r\n${close}`));
    t.match(text.toString(), /^HTTP\/1\.1 500 [\s\S]*"code":"internal_error"/);
    t.notMatch(text.toString(), /set-cookie/i);
    t.same(ended, [500]);
  });
}

// The library's 10 s timeouts are compile-time constants.
t.test(
  'uWebSockets.js: disconnects clients that stop in the middle',
  { skip: typeof uws === 'string' && uws },
  async (t) => {
    if (typeof uws === 'string') return;
    const { UwsServer } = await import('../../../server/http/uws-server.ts');
    const { send, ended } = await serve(
      t,
      (host) => new UwsServer(host, uws, new ClientConnections(many)),
    );
    const stalled = await send(`${partOfHead}\r\n`);
    stalled.pause();
    const [head, body] = await Promise.all([partOfHead, partOfBody].map((part) => send(part)));
    if (head === undefined || body === undefined) throw new Error('no connection');
    t.same(await Promise.all([rest(head), rest(body)]), [Buffer.alloc(0), Buffer.alloc(0)]);
    await until('the one that reads nothing is disconnected', () => ended.length === 2);
    t.same(ended, [null, null]);
  },
);

const limit = 40;
/** TLS handshake of a client that mistakes the port for HTTPS. */
const hello = '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03';
const small = 'GET /small HTTP/1.1\r\nHost: x\r\n\r\n';
const skip = process.platform !== 'linux' && 'other systems have one loopback address';

/** Returns the servers with a connection limit. */
async function limited(
  ...trustedProxies: readonly Network[]
): Promise<readonly (readonly [name: string, StartHttpServer])[]> {
  const connections = () => new ClientConnections(limit, trustedProxies);
  const node = ['node', (host: HttpApp) => new NodeServer(host, connections(), patient)] as const;
  if (typeof uws === 'string') return [node];
  const { UwsServer } = await import('../../../server/http/uws-server.ts');
  return [node, ['uws', (host) => new UwsServer(host, uws, connections())]];
}

/** Client addresses of an attack. */
const attackers = [
  ['one address', () => '127.0.0.2'],
  ['the addresses of a network', (index) => `127.0.2.${1 + index}`],
  ['many networks', (index) => `127.1.${1 + index}.1`],
] as const satisfies readonly (readonly [string, (index: number) => string])[];

for (const [name, start] of await limited()) {
  for (const [kind, bytes] of [
    ['are idle', ''],
    ['send heads that do not end', partOfHead],
    ['send a TLS handshake', hello],
    ['read no response', `${partOfHead}\r\n`],
  ] as const) {
    for (const [clients, from] of attackers) {
      const title = `${name}: serves another client while connections of ${clients} ${kind}`;
      t.test(title, { skip }, async (t) => {
        const { app, send } = await serve(t, start);
        const kept = await send(small);
        await once(kept, 'data');
        await flood(send, 3 * limit, bytes, from);
        const { connections } = app;
        if (connections === null) throw new Error('the server does not listen');
        for (let request = 0; request < 5; request += 1) {
          const other = await send(small, '127.0.0.3');
          t.match(await firstBytes(other), /^HTTP\/1\.1 200 /);
          other.destroy();
        }
        // This connection waited longest, and no network uses fewer connections.
        if (clients !== 'many networks') {
          kept.write(small);
          t.match(await firstBytes(kept), /^HTTP\/1\.1 200 /, 'its connection stays');
        }
        t.ok(connections.open <= limit, `${connections.open} are open`);
        if (bytes !== hello)
          t.ok(connections.closedWaiting + connections.refused > 0, 'some are closed');
      });
    }
  }
}

for (const [name, start] of await limited()) {
  t.test(`${name}: drops a request that arrives after the drain`, async (t) => {
    const { app, send, ended } = await serve(t, start);
    const socket = await send(small);
    t.match(await firstBytes(socket), /^HTTP\/1\.1 200 /);
    await app.drain(0, 10_000);
    socket.write(small);
    t.equal((await rest(socket)).toString(), '');
    t.same(ended, [200, null]);
  });
}

/**
 * Sends requests one after another, each on a new connection, and resolves when every response has
 * started.
 */
async function oneByOne(send: Sender, count: number, bytes: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const socket = await send(bytes, '127.0.0.2');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    sockets.push(socket);
  }
  return sockets;
}

/** Tests uWebSockets.js with a connection limit. */
function testUws(
  title: string,
  run: (t: Test, served: Awaited<ReturnType<typeof serve>>) => Promise<void>,
): void {
  t.test(`uws: ${title}`, { skip: skip || (typeof uws === 'string' && uws) }, async (t) => {
    const start = (await limited()).at(-1)?.[1];
    if (start !== undefined) await run(t, await serve(t, start));
  });
}

testUws(
  'serves a client that sends whole requests next to slow clients',
  async (t, { app, send }) => {
    const { connections } = app;
    await oneByOne(send, limit / 2, `${partOfHead}\r\n`);
    t.equal(connections?.open, limit / 2, 'half of the connections');
    await rest(await send(small, '127.0.0.3'));
    t.pass('then a connection ends with its response');
    await oneByOne(send, limit, `${partOfHead}\r\n`);
    t.ok(Number(connections?.closedWaiting) > 0, 'those that do not read end');
    t.equal(connections?.refused, 0);
  },
);

for (const [what, request] of [
  ['large responses', 'GET /medium HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown option', 'GET /medium HTTP/1.1\r\nHost: x\r\nConnection: x-close\r\n\r\n'],
  ['pipelining', small.repeat(3)],
] as const) {
  testUws(
    `still limits a client's idle connections between its requests: ${what}`,
    async (t, { app, send }) => {
      for (let idle = 1; idle <= 2 * limit; idle += 1) {
        await send('', '127.0.0.2');
        const reader = await send(request, '127.0.0.2');
        reader.resume();
      }
      const ended = () => Number(app.connections?.refused) + Number(app.connections?.closedWaiting);
      await until('most are refused or closed', () => ended() > limit / 2);
      const open = () => Number(app.connections?.open);
      await until(
        'a client has three quarters of the connections',
        () => open() <= 0.75 * limit + 1,
      );
      const other = await send(small, '127.0.0.3');
      t.match(String((await once(other, 'data'))[0]), /^HTTP\/1\.1 200 /);
    },
  );
}

testUws('ends every connection with its response while many are open', async (t, served) => {
  const { app, send } = served;
  await flood(send, 2 * limit, '', () => '127.0.0.2');
  await until('they are open', () => Number(app.connections?.open) > limit / 2);
  const ask = async (path: string, method = 'GET') =>
    (
      await rest(await send(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, '127.0.0.3'))
    ).toString();
  for (let request = 0; request < limit; request += 1) {
    const [head = '', body = ''] = (await ask('/medium')).split('\r\n\r\n', 2);
    t.match(head, /^HTTP\/1\.1 200 [\s\S]*connection: close\r\n[\s\S]*content-length: 102400$/i);
    t.equal(body.length, mediumBytes);
  }
  t.match(await ask('/unchanged'), /^HTTP\/1\.1 304 [\s\S]*content-length: 4\r\n\r\n$/i);
  t.match(await ask('/medium', 'HEAD'), /^HTTP\/1\.1 200 [\s\S]*content-length: 102400\r\n\r\n$/i);
});

testUws('closes the longest waiting of many clients with one each', async (t, { app, send }) => {
  const sockets: Socket[] = [];
  for (let client = 0; client < limit + 5; client += 1) {
    sockets.push(await send('', `127.1.${client}.1`));
  }
  await until('five are closed', () => app.connections?.closedWaiting === 5);
  const closed = () => sockets.flatMap(({ closed }, index) => (closed ? index : []));
  await until('their clients have noticed', () => closed().length === 5);
  // The server does not track silence on connections from before half were open.
  t.same(
    closed(),
    [0, 1, 2, 3, 4].map((index) => index + limit / 2),
  );
  t.equal(app.connections?.open, limit);
});

const proxies = [parseNetwork('127.0.2.0/24')].filter((parsed) => parsed !== null);

for (const [name, start] of await limited(...proxies)) {
  t.test(`${name}: does not limit a trusted proxy`, { skip }, async (t) => {
    const { app, send } = await serve(t, start);
    // More than half, so that the server counts the other clients.
    const sockets = await flood(send, 0.75 * limit, small.slice(0, -2), () => '127.0.2.1');
    await until('all are open', () => app.connections?.open === 0.75 * limit);
    t.equal(app.connections?.refused, 0);
    await flood(send, 2 * limit, '', () => '127.0.0.2');
    for (const proxy of sockets) {
      proxy.write('\r\n');
      t.match(await firstBytes(proxy), /^HTTP\/1\.1 200 /);
    }
  });
}

t.test('leaves a reserve of descriptors', async (t) => {
  const settings = { poolThreads: 2, fetchConcurrency: 64, sharedCacheUrl: null };
  t.equal(maxConnections(1_024, settings), 1_024 - 277);
  t.equal(maxConnections(65_536, settings), 65_536 - 277);
  t.equal(maxConnections(256, settings), 64, 'a part at least');
  t.ok((await descriptorLimit()) >= 256);
});
