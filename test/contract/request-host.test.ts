import t from 'tap';
import {
  hostOf,
  isAddressOrLocalhost,
  isForeignToLoopback,
  isSameHost,
} from '../../contract/request-host.ts';

t.test('a Host header is an address or localhost, or a name that anyone may have', async (t) => {
  const readings: Readonly<Record<string, readonly [host: string, isOwn: boolean]>> = {
    localhost: ['localhost', true],
    'LocalHost:80': ['localhost', true],
    '127.0.0.1:3000': ['127.0.0.1', true],
    '[::1]:3000': ['::1', true],
    '[2001:DB8::1]': ['2001:db8::1', true],
    '192.0.2.1': ['192.0.2.1', true],
    '0.0.0.0:3000': ['0.0.0.0', false],
    '[::]': ['::', false],
    '[::ffff:0.0.0.0]': ['::ffff:0.0.0.0', false],
    '127.1': ['127.1', false],
    'localhost.': ['localhost.', false],
    'localhost.example': ['localhost.example', false],
    '127.0.0.1.example:3000': ['127.0.0.1.example', false],
    'localhost@evil.example': ['localhost@evil.example', false],
    'evil.example:80:localhost': ['', false],
    '[::1]x': ['', false],
    '::1': ['', false],
    '': ['', false],
  };
  for (const [header, [host, isOwn]] of Object.entries(readings)) {
    t.equal(hostOf(header), host, header);
    t.equal(isAddressOrLocalhost(host), isOwn, header);
    t.equal(isForeignToLoopback(header, '127.0.0.1'), !isOwn, header);
    t.equal(isForeignToLoopback(header, 'localhost'), !isOwn, header);
    t.equal(isForeignToLoopback(header, '::1'), !isOwn, header);
    for (const other of ['0.0.0.0', '::', '192.0.2.1', 'metrics.internal']) {
      t.notOk(isForeignToLoopback(header, other), 'a listener for a network has names of its own');
    }
  }
  t.equal(hostOf('a'.repeat(301)), '');
});

t.test('an Origin is of the same host, at whatever port, or foreign', async (t) => {
  for (const [origin, host, isSame] of [
    ['http://localhost:5173', 'localhost', true],
    ['http://localhost:5173', '127.0.0.1', true],
    ['http://[::1]:5173', 'localhost', true],
    ['https://images.example', 'images.example', true],
    ['http://192.0.2.1:80', '192.0.2.1', true],
    ['http://192.0.2.2', '192.0.2.1', false],
    ['http://192.0.2.1', 'localhost', false],
    ['http://localhost', '192.0.2.1', false],
    ['https://evil.example', 'localhost', false],
    ['http://localhost.evil.example', 'localhost', false],
    ['null', 'null', false],
    ['localhost', 'localhost', false],
    ['', '', false],
    [`http://localhost/${'a'.repeat(300)}`, 'localhost', false],
  ] as const) {
    t.equal(isSameHost(origin, host), isSame, `${origin} ${host}`);
  }
});
