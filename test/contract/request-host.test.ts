import t from 'tap';
import {
  isAddressOrLocalhost,
  isForeignToLoopback,
  parseHost,
} from '../../contract/request-host.ts';

t.test('requires an address or localhost as the Host of a loopback listener', async (t) => {
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
    t.equal(parseHost(header), host, header);
    t.equal(isAddressOrLocalhost(host), isOwn, header);
    t.equal(isForeignToLoopback(header, '127.0.0.1'), !isOwn, header);
    t.equal(isForeignToLoopback(header, 'localhost'), !isOwn, header);
    t.equal(isForeignToLoopback(header, '::1'), !isOwn, header);
    for (const other of ['0.0.0.0', '::', '192.0.2.1', 'metrics.internal']) {
      t.notOk(isForeignToLoopback(header, other), 'other listeners may have any name');
    }
  }
  t.equal(parseHost('a'.repeat(301)), '');
});
