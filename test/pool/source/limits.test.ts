import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { until } from '../../until.ts';
import { client, expectFailure, listen, openSources, startOrigin } from './origin.ts';

t.test('rejects a Content-Length over the limit before the body', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-length', 10_001).flushHeaders();
  });
  const sources = openSources(t, { sourceMaxBytes: 10_000 });
  const failure = await expectFailure(sources.acquire(origin.url(), client()));
  t.match(failure, { code: 'source_too_large', message: /10000/ });
  await origin.quiet();
});

t.test('counts bytes while they arrive', async (t) => {
  let cut = false;
  const origin = await startOrigin(t, (request, response) => {
    response.flushHeaders();
    if (request.url === '/exact') return void response.end(Buffer.alloc(10_000));
    response.write(Buffer.alloc(10_001));
    response.on('close', () => {
      cut = true;
    });
  });
  const sources = openSources(t, { sourceMaxBytes: 10_000 });
  t.equal((await sources.acquire(origin.url('/exact'), client())).bytes.byteLength, 10_000);
  const failure = await expectFailure(sources.acquire(origin.url('/more'), client()));
  t.equal(failure.code, 'source_too_large');
  await until('the connection is closed', () => cut);
  t.equal(sources.stats().heldBytes, 10_000);
});

t.test('decodes a compressed body within the limit', async (t) => {
  const body = Buffer.alloc(9_000, 'svg');
  const codings = {
    gzip: gzipSync,
    'X-GZIP': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  };
  for (const [coding, compress] of Object.entries(codings)) {
    const compressed = compress(body);
    const bomb = compress(Buffer.alloc(5_000_000));
    t.ok(bomb.byteLength < 10_000);
    const origin = await startOrigin(t, (request, response) => {
      const bodies = { '/': compressed, '/bomb': bomb, '/truncated': compressed.subarray(0, -9) };
      const body = bodies[request.url as keyof typeof bodies] ?? 'not compressed';
      response.setHeader('content-encoding', coding).end(body);
    });
    const sources = openSources(t, { sourceMaxBytes: 10_000 });
    const { bytes } = await sources.acquire(origin.url('/'), client());
    t.ok(body.equals(bytes), coding);
    for (const [path, code] of [
      ['/bomb', 'source_too_large'],
      ['/truncated', 'source_corrupt'],
      ['/plain', 'source_corrupt'],
    ] as const) {
      const failure = await expectFailure(sources.acquire(origin.url(path), client()));
      t.equal(failure.code, code, `${coding} ${path}`);
    }
    t.equal(sources.stats().heldBytes, bytes.byteLength);
  }
});

t.test('rejects codings that the service cannot decode, and multiple codings', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    response.setHeader('content-encoding', request.url?.slice(1) ?? '').end('x');
  });
  for (const coding of ['compress', 'dcb', 'gzip,br', 'aws-chunked,gzip,gzip']) {
    const failure = await expectFailure(openSources(t).acquire(origin.url(`/${coding}`), client()));
    t.equal(failure.code, 'source_unsupported', coding);
  }
});

t.test('ignores Content-Encoding values that are not codings', async (t) => {
  const body = Buffer.alloc(9_000, 'svg');
  const origin = await startOrigin(t, ({ url = '' }, response) => {
    const coding = decodeURIComponent(url.slice(1));
    response.setHeader('content-encoding', coding);
    response.end(/gzip/i.test(coding) ? gzipSync(body) : body);
  });
  const values = ['aws-chunked', 'base64', 'utf-8', 'undefined', 'binary', 'constructor', 'None'];
  for (const value of [...values, 'aws-chunked,gzip', 'GZIP, aws-chunked', 'identity, gzip']) {
    const url = origin.url(`/${encodeURIComponent(value)}`);
    const { bytes } = await openSources(t).acquire(url, client());
    t.ok(body.equals(bytes), value);
  }
});

t.test('applies the timeout to all phases', async (t) => {
  const silent = createServer((socket) => socket.resume());
  const slow = (start: string) =>
    createServer((socket) => {
      socket.resume();
      socket.write(`HTTP/1.1 200 OK\r\n${start}`);
      const timer = setInterval(() => socket.write('a'), 10);
      socket.on('close', () => clearInterval(timer));
    });
  const slowBody = slow('Content-Length: 100000\r\n\r\n');
  const slowHeader = slow('A: ');
  const redirecting = createServer((socket) => {
    socket.on('data', () => {
      const answer = 'HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n';
      setTimeout(() => socket.writable && socket.write(answer), 80);
    });
  });
  for (const [name, server] of Object.entries({ silent, slowBody, slowHeader, redirecting })) {
    const origin = await listen(t, server);
    const sources = openSources(t, { sourceTimeoutMs: 250 });
    const failure = await expectFailure(sources.acquire(origin.url(), client()));
    t.match(failure, { code: 'source_timeout', message: /250 ms .*127\.0\.0\.1/ }, name);
    await origin.quiet();
    t.match(sources.stats(), { fetching: 0, heldBytes: 0 });
  }
  const resolve = () => new Promise<never>(() => {});
  const sources = openSources(t, { sourceTimeoutMs: 100 }, { resolve });
  const failure = await expectFailure(sources.acquire(new URL('http://slow.example/'), client()));
  t.match(failure, { code: 'source_timeout', message: /100 ms .*slow\.example/ });
});

t.test('closes a connection that idles longer than the timeout, even after an abort', async (t) => {
  const server = createHttpServer((request, response) => {
    if (request.url === '/kept') response.end('picture');
    else response.flushHeaders();
  });
  // Never ends a kept connection by itself.
  server.keepAliveTimeout = 0;
  const origin = await listen(t, server);
  const sources = openSources(t, { sourceTimeoutMs: 200 });
  await Promise.all(
    ['/kept', '/late'].map((path) => sources.acquire(origin.url(path), client()).catch(() => {})),
  );
  await origin.quiet();
});
