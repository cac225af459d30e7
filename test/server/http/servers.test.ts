import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { App } from '../../../server/http/app.ts';
import { chooseHttpServer } from '../../../server/http/choose-server.ts';
import { errorResponse } from '../../../server/http/error-response.ts';
import { NodeServer, type NodeTimeouts } from '../../../server/http/node-server.ts';
import type { Headers, HttpResponse } from '../../../server/http/request.ts';
import type { StartHttpServer } from '../../../server/http/server.ts';
import { loadUws } from '../../../server/http/uws-library.ts';
import { freePort } from '../../service/service.ts';
import { until } from '../../until.ts';

/** More bytes than the sockets buffer. */
const bodyBytes = 32 * 1024 * 1024;

/** An app with one large response, its address, and the statuses of ended requests. */
async function serve(t: Test, start: StartHttpServer) {
  const body = Buffer.alloc(bodyBytes);
  const large: HttpResponse = { status: 200, headers: [], body };
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
        path: '/body',
        methods: () => ['POST'],
        handler: async (request) => {
          await request.readBody(bodyBytes);
          request.respond(large);
        },
      },
    ],
    { onEnd: (_, status) => ended.push(status), onError: () => {}, errorResponse },
    'x-',
  );
  const port = await freePort();
  t.equal(await app.listen(start, '127.0.0.1', port), true);
  t.teardown(() => app.stopListening());
  const send = async (bytes: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  return { send, ended };
}

/** Reads until the server closes the connection. */
async function rest(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
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

t.test('Node: requests after a malformed one are not handled', async (t) => {
  const { send, ended } = await serve(t, (host) => new NodeServer(host, patient));
  const twoHosts = `${partOfHead}Host: y\r\n\r\n`;
  const text = (await rest(await send(`${twoHosts}${partOfHead}\r\n`))).toString();
  t.match(text, /^HTTP\/1\.1 400 /);
  t.same(ended, [400]);
});

t.test('Node: clients that stop in the middle are disconnected', async (t) => {
  const { send, ended } = await serve(
    t,
    (host) =>
      new NodeServer(host, {
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

t.test('Node: a client that reads slowly is not disconnected', async (t) => {
  const { send, ended } = await serve(
    t,
    (host) => new NodeServer(host, { ...patient, stalledTimeout: 300 }),
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
  t.test(`${name}: a header with a line break is an error of the service`, async (t) => {
    const { start } = await chooseHttpServer(name as 'node' | 'uws');
    const { send, ended } = await serve(t, start);
    const close = 'Connection: close\r\nContent-Length: 1\r\n\r\na';
    const text = await rest(await send(`GET /injected HTTP/1.1\r\nHost: x\r\n${close}`));
    t.match(text.toString(), /^HTTP\/1\.1 500 [\s\S]*"code":"internal_error"/);
    t.notMatch(text.toString(), /set-cookie/i);
    t.same(ended, [500]);
  });
}

// Its timeouts of 10 s are fixed when the library is compiled.
t.test(
  'uWebSockets.js: clients that stop in the middle are disconnected',
  { skip: typeof uws === 'string' && uws },
  async (t) => {
    if (typeof uws === 'string') return;
    const { UwsServer } = await import('../../../server/http/uws-server.ts');
    const { send, ended } = await serve(t, (host) => new UwsServer(host, uws));
    const stalled = await send(`${partOfHead}\r\n`);
    stalled.pause();
    const [head, body] = await Promise.all([partOfHead, partOfBody].map(send));
    if (head === undefined || body === undefined) throw new Error('no connection');
    t.same(await Promise.all([rest(head), rest(body)]), [Buffer.alloc(0), Buffer.alloc(0)]);
    await until('the one that reads nothing is disconnected', () => ended.length === 2);
    t.same(ended, [null, null]);
  },
);
