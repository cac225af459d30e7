import { networkInterfaces } from 'node:os';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { AddressGuard } from '../../../pool/source/guard.ts';

const own = {
  urls: ['https://Images.Example.com./', 'http://localhost:3000/'],
  ports: [3000, 3002],
};
const sourcePorts = [80, 443, 8443];
const guardOf = (...privateSources: string[]) =>
  new AddressGuard({ privateSources, sourcePorts, own });

/** The code that a URL is refused with, or null. */
function refusal(guard: AddressGuard, url: string): string | null {
  try {
    guard.check(new URL(url));
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

t.test('public http and https URLs pass', async (t) => {
  const guard = guardOf();
  for (const url of [
    'http://example.com/',
    'https://cdn.example.co.uk:8443/a?b#c',
    'http://8.8.8.8/a.png',
    'https://[2606:4700::1111]/',
    'http://münchen.de/',
    'http://example.com./',
    'http://a.test/',
  ]) {
    t.equal(refusal(guard, url), null, url);
  }
});

t.test('what is no source at all is invalid', async (t) => {
  const guard = guardOf();
  for (const url of [
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:image/png,x',
    'javascript:1',
    'gopher://a.b/',
    'http://user@example.com/',
    'http://user:pass@example.com/',
    'http://:p@example.com/',
    'http://./',
    'blob:http://example.com/a',
  ]) {
    t.equal(refusal(guard, url), 'source_invalid', url);
  }
});

t.test('IP literals that are not public are blocked in every spelling', async (t) => {
  const guard = guardOf();
  for (const host of [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '0',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '017700000001',
    '0x7f.0x0.1',
    '169.254.169.254',
    '0xA9FEA9FE',
    '2852039166',
    '10.1',
    '192.168.257',
    '0.0.0.0',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[0:0:0:0:0:0:0:1]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2001::1]',
  ]) {
    t.equal(refusal(guard, `http://${host}/a.png`), 'source_blocked', host);
  }
});

t.test('names that never are public are blocked before any look-up', async (t) => {
  const guard = guardOf();
  for (const host of [
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'redis',
    'printer.local',
    'metadata.google.internal',
    'nas.home.arpa',
    'abc.onion',
    'a.alt',
  ]) {
    t.equal(refusal(guard, `http://${host}/`), 'source_blocked', host);
    t.equal(guard.allowsHost(host), false, host);
  }
});

t.test('hosts for an allowlist', async (t) => {
  const guard = guardOf('10.0.0.0/8', 'origin.internal', '*.lan.local', 'localhost');
  for (const host of [
    'example.com',
    'EXAMPLE.com.',
    'münchen.de',
    'a.example',
    'a.test',
    'none.invalid',
    '8.8.8.8',
    '[2606:4700::1111]',
    '10.2.3.4',
    '10.1',
    'local.example.com',
    'origin.internal',
    'Origin.Internal.',
    'a.lan.local',
    'a.b.lan.local',
    'localhost',
  ]) {
    t.equal(guard.allowsHost(host), true, host);
  }
  for (const host of [
    '',
    '.',
    'a..b',
    'example.com:80',
    'http://example.com',
    'example.com/a',
    'u@example.com',
    'a b.com',
    'example.com?',
    'example.com#',
    '%65xample.com',
    'lan.local',
    'xlan.local',
    'other.internal',
    '127.0.0.1',
    '192.168.0.1',
    '::1',
    '[::1]',
    '[::1',
    '256.1.1.1',
    'a.localhost',
  ]) {
    t.equal(guard.allowsHost(host), false, host);
  }
});

t.test('private sources name networks, addresses and hosts', async (t) => {
  const guard = guardOf('127.0.0.0/8:8080', '::1/128', '192.168.1.5', 'origin.internal');
  t.equal(refusal(guard, 'http://127.0.0.1:8080/'), null);
  t.equal(refusal(guard, 'http://[::ffff:127.0.0.1]:8080/'), null, 'mapped is the same address');
  t.equal(refusal(guard, 'http://[::1]/'), null);
  t.equal(refusal(guard, 'http://192.168.1.5/'), null);
  t.equal(refusal(guard, 'http://192.168.1.6/'), 'source_blocked');
  t.equal(refusal(guard, 'http://origin.internal/'), null);
  t.ok(guard.allowsAddress('127.0.0.1', 'shop.example', 8080), 'a CIDR holds for every name');
  t.ok(
    guard.allowsAddress('10.0.0.1', 'origin.internal', 80),
    'a named host may resolve to anything',
  );
  t.notOk(guard.allowsAddress('10.0.0.1', 'shop.example', 80));
  t.notOk(guard.allowsAddress('no address', 'shop.example', 80));
  for (const entry of ['', '10.0.0.0/40', 'http://a.b', 'a/b', '*', '*.*.a', 'a b', 'a.*.b']) {
    t.throws(() => guardOf(entry), RangeError, entry);
  }
});

t.test('the service is no source for itself, whatever is named', async (t) => {
  const guard = guardOf('0.0.0.0/0:*', '[::/0]:*', 'localhost:*', 'images.example.com:*');
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  );
  for (const host of [
    'images.example.com',
    'IMAGES.example.com.',
    'localhost',
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
    ...addresses.filter((address) => !address.startsWith('[fe80')),
  ]) {
    t.equal(refusal(guard, `http://${host}:3000/`), 'source_blocked', host);
    t.equal(refusal(guard, `https://${host}:3000/`), 'source_blocked', host);
    t.equal(refusal(guard, `http://${host}:3002/`), 'source_blocked', `${host}, the worker`);
    t.equal(refusal(guard, `http://${host}:3001/`), null, `${host} at another port`);
  }
  const atDefaults = new AddressGuard({
    privateSources: [],
    sourcePorts,
    own: { urls: ['https://a.test/'], ports: [3000] },
  });
  t.equal(
    refusal(atDefaults, 'https://a.test/'),
    'source_blocked',
    'a port that the scheme implies',
  );
  t.equal(refusal(atDefaults, 'http://a.test/'), null);
});

t.test('a port is one of the public or of the private source', async (t) => {
  const guard = guardOf(
    '10.0.0.5:9000',
    '[fd00::/8]:9001',
    'minio:9000',
    '*.lan.local',
    '10.1.0.0/16:*',
  );
  for (const url of [
    'http://10.0.0.5:9000/',
    'http://[fd00::1]:9001/',
    'https://minio:9000/',
    'http://a.lan.local/',
    'http://10.1.2.3:1/',
    'https://example.com:8443/',
  ]) {
    t.equal(refusal(guard, url), null, url);
  }
  for (const url of [
    'http://10.0.0.5/',
    'http://10.0.0.5:9001/',
    'http://[fd00::1]/',
    'http://minio/',
    'http://a.lan.local:8443/',
    'http://8.8.8.8:22/',
    'http://8.8.8.8:9000/',
  ]) {
    t.equal(refusal(guard, url), 'source_blocked', url);
  }
  t.equal(refusal(guardOf(), 'http://example.com:9000/'), 'source_blocked');
  // What a name resolves to decides later.
  t.equal(refusal(guard, 'http://shop.example.com:9000/'), null);
  t.ok(guard.allowsAddress('10.0.0.5', 'shop.example.com', 9000));
  t.notOk(guard.allowsAddress('8.8.8.8', 'shop.example.com', 9000));
  for (const entry of ['10.0.0.5:', '10.0.0.5:0', 'a.b:65536', 'a.b:x', 'a.b:80:81', '[a.b]:80']) {
    t.throws(() => guardOf(entry), RangeError, entry);
  }
});

t.test('link-local addresses need a network of their own', async (t) => {
  const wide = guardOf('0.0.0.0/0:*', '[::/0]:*', 'metadata.internal:*');
  t.equal(refusal(wide, 'http://169.254.169.254/latest'), 'source_blocked');
  t.equal(refusal(wide, 'http://[fe80::1]/'), 'source_blocked');
  t.notOk(wide.allowsAddress('169.254.169.254', 'metadata.internal', 80));
  const named = guardOf('169.254.7.0/24');
  t.equal(refusal(named, 'http://169.254.7.1/'), null);
  t.equal(refusal(named, 'http://169.254.169.254/'), 'source_blocked');
});
