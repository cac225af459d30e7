import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import {
  listenerUrls,
  listenFailureText,
  toListenAddresses,
  toListenHost,
} from '../../contract/settings/listeners.ts';

const connectionFailure = (host: string, port: number): Promise<unknown> =>
  new Promise((resolve) => createServer().once('error', resolve).listen(port, host));

t.test('names setting, address and cause of a listener that cannot start', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.teardown(() => holder.close());
  const { port } = holder.address() as AddressInfo;
  for (const [host, cause] of [
    ['127.0.0.1', 'another program listens there; stop it, or set another port (EADDRINUSE)'],
    ['192.0.2.1', 'it is not an address of this machine (EADDRNOTAVAIL)'],
    ['a.invalid', /(?:the name has no address|could not be looked up) \(\w+\)/],
  ] as const) {
    const text = listenFailureText(
      'SERVICE_OPS_PORT',
      { host, port },
      await connectionFailure(host, port),
    );
    t.match(text, `SERVICE_OPS_PORT ${port} on ${host} (SERVICE_OPS_HOST) cannot be used: `);
    t.match(text, cause);
  }
});

t.test('does not report other errors as port failures', async (t) => {
  const name = 'a-package-that-is-not-installed';
  const missing = await import(name).catch((error) => error);
  t.match(missing, { code: 'ERR_MODULE_NOT_FOUND' });
  const unreadable = Object.assign(new Error('no access'), { code: 'EACCES', syscall: 'open' });
  for (const error of [missing, unreadable, new Error('any'), 'text', null]) {
    const address = { host: '127.0.0.1', port: 3001 };
    t.equal(listenFailureText('SERVICE_WORKER_PORT', address, error), null);
  }
});

t.test('listens on all addresses, and is reached at those of the machine', async (t) => {
  const refused = await new Promise((resolve) => {
    const server = createServer().once('error', resolve);
    server.listen(0, '::', () => server.close(() => resolve(null)));
  });
  t.equal(toListenHost('::'), refused === null ? '::' : '0.0.0.0', 'as this machine listens');
  t.equal(
    toListenHost('::', () => false),
    '0.0.0.0',
    'a kernel without IPv6',
  );
  t.equal(
    toListenHost('::1', () => false),
    '::1',
    'an explicit address',
  );
  const both = ['http://127.0.0.1:80', 'http://[::1]:80'];
  t.same(listenerUrls('::', 80), both);
  t.same(listenerUrls('localhost', 80), both);
  t.same(listenerUrls('0.0.0.0', 80), both.slice(0, 1));
  t.same(listenerUrls('fd00::1', 80), ['http://[fd00::1]:80']);
  t.same(toListenAddresses('192.0.2.1'), ['192.0.2.1']);
  for (const host of toListenAddresses('localhost')) {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    server.close();
  }
});
