import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { loadSettings } from '../../../contract/settings/load.ts';
import { client, expectFailure, listen, openSources, startOrigin } from './origin.ts';

const password = 'pass-word';
const authorization = `Basic ${Buffer.from(`user:${password}`).toString('base64')}`;

/** Starts an HTTP proxy for user and password that accepts CONNECT only, and opens sources by it. */
async function openWithProxy(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const requests: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, socket, head) => {
    requests.push({ url, headers });
    socket.on('error', () => {});
    if (headers['proxy-authorization'] !== authorization) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    }
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port || 80), hostname, () => {
      socket.write(`HTTP/1.1 200 Connection established\r\nVia: ${'a'.repeat(8_000)}\r\n\r\n`);
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });
  const { port } = await listen(t, server);
  const settings = loadSettings({
    SERVICE_SOURCE_PROXY: `http://user:${password}@127.0.0.1:${port}/`,
    ...environment,
  });
  const { sourceProxy, sourceNoProxy } = settings;
  const addresses: Record<string, string> = {};
  const sources = openSources(
    t,
    { sourceProxy, sourceNoProxy },
    { resolve: async (name) => [{ address: addresses[name] ?? '127.0.0.1', family: 4 }] },
  );
  const acquire = (url: URL) => sources.acquire(url, client());
  return { requests, acquire, addresses, port };
}

t.test('asks the proxy to connect to the address that was checked', async (t) => {
  const { requests, acquire, addresses } = await openWithProxy(t);
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: 'http://inside.example/' });
    response.end('picture');
  });
  const url = origin.url('/a.jpg', 'shop.example');
  t.equal(Buffer.from((await acquire(url)).bytes).toString(), 'picture');
  t.match(requests, [
    { url: `127.0.0.1:${origin.port}`, headers: { 'proxy-authorization': authorization } },
  ]);
  t.equal(origin.requests[0]?.headers.host, `shop.example:${origin.port}`);
  t.equal(origin.requests[0]?.headers['proxy-authorization'], undefined);

  addresses['inside.example'] = '10.0.0.1';
  for (const inside of [
    new URL('http://inside.example/'),
    origin.url('/moved', 'shop.example'),
    new URL('http://169.254.169.254/'),
  ]) {
    t.match(await expectFailure(acquire(inside)), { code: 'source_blocked' }, inside.href);
  }
  t.ok(requests.every((request) => request.url === `127.0.0.1:${origin.port}`));
});

t.test("verifies the host's name inside of the tunnel", async (t) => {
  const certificate = await generate([{ name: 'commonName', value: 'shop.example' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'shop.example' }] },
    ],
  });
  const names: string[] = [];
  const { private: key, cert } = certificate;
  const origin = await listen(
    t,
    createSecureServer({ key, cert }, (request, response) => {
      names.push(String((request.socket as tls.TLSSocket).servername));
      response.end('picture');
    }),
  );
  const { acquire } = await openWithProxy(t);
  const urlOf = (host: string) => new URL(`https://${host}:${origin.port}/`);
  const unknown = await expectFailure(acquire(urlOf('shop.example')));
  t.match(unknown, { code: 'source_unreachable', message: /is self-signed/ });
  const original = tls.connect;
  t.intercept(tls, 'connect', {
    value: (options: tls.ConnectionOptions) => original({ ...options, ca: cert }),
  });
  t.equal((await (await openWithProxy(t)).acquire(urlOf('shop.example'))).bytes.byteLength, 7);
  t.same(names, ['shop.example']);
  const other = await expectFailure((await openWithProxy(t)).acquire(urlOf('other.example')));
  t.match(other.message, /other\.example's certificate is for other names/);
});

t.test('connects to exceptions without the proxy', async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.end('picture'));
  for (const [list, isDirect] of [
    ['*', true],
    ['other.example, shop.example', true],
    ['.example', true],
    ['127.0.0.0/8', true],
    [`shop.example:${origin.port}`, true],
    ['not a host!, 10.0.0.0/8', false],
    ['op.example', false],
    ['shop.example:1', false],
  ] as const) {
    const { requests, acquire } = await openWithProxy(t, { NO_PROXY: list });
    await acquire(origin.url('/a.jpg', 'shop.example'));
    t.equal(requests.length, isDirect ? 0 : 1, list);
  }
});

t.test('reports a failing proxy without its password', async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.end('picture'));
  const { acquire, port } = await openWithProxy(t);
  const closed = await listen(t, createServer());
  const dead = closed.url();
  for (const [environment, message] of [
    [{ SERVICE_SOURCE_PROXY: `http://user:wrong-one@127.0.0.1:${port}` }, /proxy returned 407\./],
    [{ SERVICE_SOURCE_PROXY: 'http://user:wrong-one@127.0.0.1:1' }, /proxy .*\(ECONNREFUSED\)\./],
  ] as const) {
    const failing = await openWithProxy(t, environment);
    const failure = await expectFailure(failing.acquire(dead));
    t.match(failure, { code: 'source_unreachable', message });
    t.notMatch(JSON.stringify([failure.message, String(failure.cause)]), /wrong-one/);
  }
  t.equal((await acquire(origin.url())).bytes.byteLength, 7, 'others are not affected');
});
