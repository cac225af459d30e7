import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { attacks, startHostileOrigin } from './hostile-origin.ts';
import { client, expectFailure, listen, openSources } from './origin.ts';

/** Opens sources, and an origin that handles each request with `respond`. */
async function open(t: Test, respond: (socket: Socket, path: string) => void) {
  const server = createServer((socket) => {
    socket.on('data', (request) => respond(socket, String(request).split(' ')[1] ?? ''));
  });
  const origin = await listen(t, server);
  const sources = openSources(t);
  return { origin, get: (path: string) => sources.acquire(origin.url(path), client()) };
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const early = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n';
const createChunks = (length: number, count: number): string =>
  `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`.repeat(count);

t.test('ends a fetch with a response that costs more than its body', async (t) => {
  const origin = await startHostileOrigin(t);
  const sources = openSources(t, { sourceTimeoutMs: 60_000, sourceMaxBytes: 32_000_000 });
  for (const [name, { code }] of Object.entries(attacks)) {
    const url = origin.url(`/${encodeURIComponent(name)}`);
    const failure = await expectFailure(sources.acquire(url, client()));
    t.match(failure, { code: 'source_unreachable', message: `(${code})` }, name);
    await origin.quiet();
  }
  t.equal(sources.stats().heldBytes, 0);
});

t.test('accepts informational responses, extensions, trailers and small chunks', async (t) => {
  const bodies: Readonly<Record<string, readonly [text: string, length: number]>> = {
    '/early': [`${early.repeat(8)}HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc`, 3],
    '/tiny': [`${chunked}${createChunks(1, 1_000)}0\r\n\r\n`, 1_000],
    '/lines': [`${chunked}${createChunks(200, 4_000)}0\r\n\r\n`, 800_000],
    '/extension': [`${chunked}1;a=${'b'.repeat(4_000)}\r\nx\r\n0\r\nDigest: d\r\n\r\n`, 1],
    '/lines-before': ['\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx', 1],
  };
  const { get } = await open(t, (socket, path) => socket.write(bodies[path]?.[0] ?? ''));
  for (const [path, [, length]] of Object.entries(bodies)) {
    t.equal((await get(path)).bytes.byteLength, length, path);
  }
});

t.test('counts each response on a connection separately', async (t) => {
  const sockets = new Set<Socket>();
  const { get } = await open(t, (socket) => {
    sockets.add(socket);
    const trailer = `0\r\nA: ${'b'.repeat(8_000)}\r\n\r\n`;
    socket.write(`${early.repeat(8)}${chunked}${createChunks(1, 500)}${trailer}`);
  });
  for (let i = 0; i < 12; i += 1) t.equal((await get(`/${i}`)).bytes.byteLength, 500);
  t.ok(sockets.size < 6, `${sockets.size} connections for 12 responses`);
});

t.test('closes an idle connection that receives bytes', async (t) => {
  let isClosed = false;
  const { get } = await open(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx');
    const timer = setInterval(() => socket.write('\r\n'.repeat(4_000)), 5);
    socket.on('close', () => {
      clearInterval(timer);
      isClosed = true;
    });
  });
  t.equal((await get('/')).bytes.byteLength, 1);
  await until('the connection is closed', () => isClosed);
});

t.test('accepts a body of many compressed members', async (t) => {
  const member = Buffer.alloc(60_000, 'svg');
  const members = Buffer.concat(Array.from({ length: 15 }, () => gzipSync(member)));
  const { get } = await open(t, (socket) => {
    const headers = `Content-Encoding: gzip\r\nContent-Length: ${members.length}`;
    socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`);
    socket.write(members);
  });
  t.equal((await get('/')).bytes.byteLength, 900_000);
});
