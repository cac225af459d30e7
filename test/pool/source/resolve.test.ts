import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import type { SourceSettings } from '../../../pool/source/sources.ts';
import { client, expectFailure, listen, openSources, startOrigin } from './origin.ts';

const v4 = (address: string): LookupAddress => ({ address, family: 4 });
const v6 = (address: string): LookupAddress => ({ address, family: 6 });

function sourcesWith(
  t: Test,
  resolve: (name: string) => readonly LookupAddress[],
  changes: Partial<SourceSettings> = {},
) {
  return openSources(t, changes, { resolve: async (name) => resolve(name) });
}

t.test('fetches a name from its address', async (t) => {
  const origin = await startOrigin(t);
  const sources = sourcesWith(t, () => [v4('127.0.0.1')]);
  const lease = await sources.acquire(origin.url('/', 'shop.example'), client());
  t.equal(Buffer.from(lease.bytes).toString(), 'picture');
  t.equal(origin.requests[0]?.headers.host, `shop.example:${origin.port}`);
});

t.test('rejects a name with a single disallowed address', async (t) => {
  const origin = await startOrigin(t);
  for (const addresses of [
    [v4('127.0.0.2')],
    [v4('127.0.0.1'), v4('127.0.0.2')],
    [v4('127.0.0.1'), v6('::1')],
    [v4('127.0.0.1'), v4('10.0.0.1')],
    [v4('127.0.0.1'), v6('::ffff:10.0.0.1')],
    [v4('127.0.0.1'), v6('64:ff9b::a00:1')],
    [v4('127.0.0.1'), { address: 'nonsense', family: 4 }],
  ]) {
    const sources = sourcesWith(t, () => addresses);
    const failure = await expectFailure(
      sources.acquire(origin.url('/', 'mixed.example'), client()),
    );
    t.equal(failure.code, 'source_blocked', JSON.stringify(addresses));
    const named = addresses.filter(({ address }) => failure.message.includes(address));
    t.ok(named.length <= 1, 'only the refused address is named');
    t.notOk(addresses.length > 1 && failure.message.includes('127.0.0.1'), 'no allowed one');
  }
  t.equal(origin.requests.length, 0);
});

t.test('connects to the checked address when a name changes', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('connection', 'close').end('picture');
  });
  let lookups = 0;
  const sources = sourcesWith(t, () => (++lookups === 1 ? [v4('127.0.0.1')] : [v4('127.0.0.2')]));
  await sources.acquire(origin.url('/1', 'rebinding.example'), client());
  t.equal(lookups, 1, 'no query between check and connection');
  await origin.quiet();
  const failure = await expectFailure(
    sources.acquire(origin.url('/2', 'rebinding.example'), client()),
  );
  t.equal(failure.code, 'source_blocked', 'a new connection is checked');
  t.equal(origin.requests.length, 1);
});

t.test('tries the next address after a dead address', async (t) => {
  const origin = await startOrigin(t);
  const privateSources = ['127.0.0.0/8:*'];
  const sources = sourcesWith(t, () => [v4('127.0.0.9'), v4('127.0.0.1')], { privateSources });
  const lease = await sources.acquire(origin.url('/', 'two.example'), client());
  t.equal(lease.bytes.byteLength, 7);
});

t.test("resolves a private source to any address except the service's", async (t) => {
  const origin = await startOrigin(t);
  const privateSources = ['origin.internal:*'];
  const resolve = () => [v4('127.0.0.1')];
  const url = origin.url('/', 'origin.internal');
  t.ok(await sourcesWith(t, resolve, { privateSources }).acquire(url, client()));
  const self = sourcesWith(t, resolve, { privateSources, port: origin.port });
  t.equal((await expectFailure(self.acquire(url, client()))).code, 'source_blocked');
  t.equal(origin.requests.length, 1);
});

t.test('fails with source_unreachable, stage DNS, if a name does not resolve', async (t) => {
  const missing = sourcesWith(t, () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  });
  const failure = await expectFailure(missing.acquire(new URL('http://none.example/'), client()));
  t.match(failure, { code: 'source_unreachable', message: /\(DNS\).*none\.example/ });
  const empty = sourcesWith(t, () => []);
  t.match(await expectFailure(empty.acquire(new URL('http://none.example/'), client())), {
    code: 'source_unreachable',
    message: /\(DNS\)/,
  });
});

t.test('names the stage of failed connections and TLS handshakes', async (t) => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const address = closed.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => closed.close(resolve));
  for (const addresses of [[v4('127.0.0.1')], [v4('127.0.0.1'), v4('127.0.0.2')]]) {
    const sources = sourcesWith(t, () => addresses, { privateSources: ['127.0.0.0/8:*'] });
    const failure = await expectFailure(
      sources.acquire(new URL(`http://shop.example:${port}/`), client()),
    );
    t.match(failure, { code: 'source_unreachable', message: /\(connect\).*shop\.example/ });
    t.notMatch(failure.message, '127.0.0', 'no address leaks');
  }
  const plain = await listen(
    t,
    createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  );
  const sources = sourcesWith(t, () => [v4('127.0.0.1')]);
  const url = new URL(`https://shop.example:${plain.port}/`);
  t.match(await expectFailure(sources.acquire(url, client())), {
    code: 'source_unreachable',
    message: /\(TLS\).*shop\.example/,
  });
});
