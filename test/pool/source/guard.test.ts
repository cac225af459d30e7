import { networkInterfaces } from 'node:os';
import t, { type Test } from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { type Network, parseNat64Prefix } from '../../../contract/networks.ts';
import { AddressGuard } from '../../../pool/source/guard.ts';
import { NameResolver } from '../../../pool/source/resolver.ts';
import { startDnsServer } from './dns-server.ts';

const own = {
  urls: ['https://Images.Example.com./', 'http://localhost:3000/'],
  ports: [3000, 3002],
};
const sourcePorts = [80, 443, 8443];
const createGuard = (...privateSources: string[]) =>
  new AddressGuard({ privateSources, sourcePorts, own });

/** Returns a URL's error code, or null if it is allowed. */
function refusal(guard: AddressGuard, url: string): string | null {
  try {
    guard.check(new URL(url));
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

type Groups = Readonly<Record<string, readonly string[]>>;

/** Checks that all URLs fail with a code, or pass if the code is null. */
function checkAll(t: Test, guard: AddressGuard, groups: Groups, code: string | null): void {
  for (const [name, urls] of Object.entries(groups))
    for (const url of urls) t.equal(refusal(guard, url), code, `${name}: ${url}`);
}

t.test('allows public http and https URLs', async (t) => {
  const urls = {
    names: ['http://example.com/', 'http://münchen.de/', 'http://example.com./', 'http://a.test/'],
    ports: ['https://cdn.example.co.uk:8443/a?b#c'],
    addresses: ['http://8.8.8.8/a.png', 'https://[2606:4700::1111]/'],
  };
  checkAll(t, createGuard(), urls, null);
});

t.test('rejects other schemes, credentials and missing hosts as invalid', async (t) => {
  const urls = {
    schemes: ['ftp://example.com/', 'file:///etc/passwd', 'javascript:1', 'gopher://a.b/'],
    'schemes without a host': ['data:image/png,x', 'blob:http://example.com/a'],
    credentials: ['http://user@example.com/', 'http://user:p@example.com/', 'http://:p@a.example/'],
    hosts: ['http://./'],
  };
  checkAll(t, createGuard(), urls, 'source_invalid');
});

t.test('blocks IP literals that are not public in every spelling', async (t) => {
  const hosts: Groups = {
    'short forms': ['127.0.0.1', '127.1', '127.0.1', '0', '10.1', '192.168.257', '127.0.0.1.'],
    numbers: ['2130706433', '0x7f000001', '017700000001', '0xA9FEA9FE', '2852039166'],
    'hexadecimal and octal parts': ['0x7f.1', '0x7f.0x0.1', '0177.0.0.1'],
    'encoded and full-width': ['%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1'],
    'link-local and reserved': ['169.254.169.254', '0.0.0.0', '255.255.255.255'],
    IPv6: ['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[fe80::1]', '[fd00:ec2::254]', '[2001::1]'],
    mapped: ['[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::127.0.0.1]'],
    translated: ['[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  };
  const urls = Object.values(hosts).flatMap((all) => all.map((host) => `http://${host}/a.png`));
  checkAll(t, createGuard(), { '': urls }, 'source_blocked');
});

t.test('blocks names that are never public and sends no DNS query', async (t) => {
  const guard = createGuard();
  const hosts = {
    loopback: ['localhost', 'LOCALHOST.', 'a.localhost'],
    'private use': ['redis', 'printer.local', 'metadata.google.internal', 'nas.home.arpa'],
    'outside of DNS': ['abc.onion', 'a.alt'],
  };
  for (const host of Object.values(hosts).flat()) {
    t.equal(refusal(guard, `http://${host}/`), 'source_blocked', host);
    t.equal(guard.allowsHost(host), false, host);
  }
});

t.test('matches hosts against an allowlist', async (t) => {
  const guard = createGuard('10.0.0.0/8', 'origin.internal', '*.lan.local', 'localhost');
  const allowed = {
    names: ['example.com', 'EXAMPLE.com.', 'münchen.de', 'local.example.com'],
    'reserved names': ['a.example', 'a.test', 'none.invalid'],
    addresses: ['8.8.8.8', '[2606:4700::1111]'],
    'private addresses': ['10.2.3.4', '10.1'],
    'private names': ['origin.internal', 'Origin.Internal.', 'localhost'],
    wildcard: ['a.lan.local', 'a.b.lan.local'],
  };
  const refused = {
    'invalid names': ['', '.', 'a..b', 'a b.com', '%65xample.com'],
    'more than a host': ['example.com:80', 'http://example.com', 'example.com/a', 'u@example.com'],
    'query and fragment': ['example.com?', 'example.com#'],
    'other private names': ['lan.local', 'xlan.local', 'other.internal', 'a.localhost'],
    'other addresses': ['127.0.0.1', '192.168.0.1', '::1', '[::1]', '[::1', '256.1.1.1'],
  };
  for (const host of Object.values(allowed).flat()) t.equal(guard.allowsHost(host), true, host);
  for (const host of Object.values(refused).flat()) t.equal(guard.allowsHost(host), false, host);
});

t.test('matches private sources by network, address and host', async (t) => {
  const guard = createGuard('127.0.0.0/8:8080', '::1/128', '192.168.1.5', 'origin.internal');
  const allowed = {
    networks: ['http://127.0.0.1:8080/', 'http://[::ffff:127.0.0.1]:8080/', 'http://[::1]/'],
    others: ['http://192.168.1.5/', 'http://origin.internal/'],
  };
  checkAll(t, guard, allowed, null);
  t.equal(refusal(guard, 'http://192.168.1.6/'), 'source_blocked');
  t.ok(guard.allowsAddress('127.0.0.1', 'shop.example', 8080), 'a network applies to every name');
  t.ok(guard.allowsAddress('10.0.0.1', 'origin.internal', 80), 'its name has any address');
  t.notOk(guard.allowsAddress('10.0.0.1', 'shop.example', 80));
  t.notOk(guard.allowsAddress('no address', 'shop.example', 80));
  for (const entry of ['', '10.0.0.0/40', 'http://a.b', 'a/b', '*', '*.*.a', 'a b', 'a.*.b']) {
    t.throws(() => createGuard(entry), RangeError, entry);
  }
});

t.test('never fetches from the service itself', async (t) => {
  const guard = createGuard('0.0.0.0/0:*', '[::/0]:*', 'localhost:*', 'images.example.com:*');
  const names = ['images.example.com', 'IMAGES.example.com.', 'localhost'];
  const loopback = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]'];
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  );
  const other = own.filter((address) => !address.startsWith('[fe80'));
  for (const host of [names, loopback, '0x7f.1', other].flat()) {
    const urls = [`http://${host}:3000/`, `https://${host}:3000/`, `http://${host}:3002/`];
    checkAll(t, guard, { 'service and worker': urls }, 'source_blocked');
    t.equal(refusal(guard, `http://${host}:3001/`), null, `${host} at another port`);
  }
  const atDefaults = new AddressGuard({
    privateSources: [],
    sourcePorts,
    own: { urls: ['https://a.test/'], ports: [3000] },
  });
  t.equal(refusal(atDefaults, 'https://a.test/'), 'source_blocked', 'the default port of a scheme');
  t.equal(refusal(atDefaults, 'http://a.test/'), null);
});

t.test('allows the ports of public sources or of the private source', async (t) => {
  const privateSources = ['10.0.0.5:9000', '[fd00::/8]:9001', 'minio:9000', '*.lan.local'];
  const guard = createGuard('10.1.0.0/16:*', ...privateSources);
  const allowed = {
    addresses: ['http://10.0.0.5:9000/', 'http://[fd00::1]:9001/', 'http://10.1.2.3:1/'],
    names: ['https://minio:9000/', 'http://a.lan.local/', 'https://example.com:8443/'],
    // The name's addresses decide later.
    unresolved: ['http://shop.example.com:9000/'],
  };
  const blocked = {
    addresses: ['http://10.0.0.5/', 'http://10.0.0.5:9001/', 'http://[fd00::1]/'],
    names: ['http://minio/', 'http://a.lan.local:8443/'],
    public: ['http://8.8.8.8:22/', 'http://8.8.8.8:9000/'],
  };
  checkAll(t, guard, allowed, null);
  checkAll(t, guard, blocked, 'source_blocked');
  t.equal(refusal(createGuard(), 'http://example.com:9000/'), 'source_blocked');
  t.ok(guard.allowsAddress('10.0.0.5', 'shop.example.com', 9000));
  t.notOk(guard.allowsAddress('8.8.8.8', 'shop.example.com', 9000));
  for (const entry of ['10.0.0.5:', '10.0.0.5:0', 'a.b:65536', 'a.b:x', 'a.b:80:81', '[a.b]:80']) {
    t.throws(() => createGuard(entry), RangeError, entry);
  }
});

t.test('allows link-local addresses only with a link-local network', async (t) => {
  const wide = createGuard('0.0.0.0/0:*', '[::/0]:*', 'metadata.internal:*');
  t.equal(refusal(wide, 'http://169.254.169.254/latest'), 'source_blocked');
  t.equal(refusal(wide, 'http://[fe80::1]/'), 'source_blocked');
  t.notOk(wide.allowsAddress('169.254.169.254', 'metadata.internal', 80));
  const named = createGuard('169.254.7.0/24');
  t.equal(refusal(named, 'http://169.254.7.1/'), null);
  t.equal(refusal(named, 'http://169.254.169.254/'), 'source_blocked');
});

t.test('never fetches from credential services, even in an allowed network', async (t) => {
  const guard = createGuard(
    '169.254.0.0/16:*',
    '169.254.169.254:*',
    '[fd00::/8]:*',
    '[fd00:ec2::23]:*',
    '[64:ff9b::/96]:*',
    'credentials.test:*',
  );
  const addresses = [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    'fd00:ec2::254',
    'fd00:ec2:0::23',
    '::ffff:169.254.169.254',
    '64:ff9b::169.254.170.2',
  ];
  for (const address of addresses) {
    const host = address.includes(':') ? `[${address}]` : address;
    t.equal(refusal(guard, `http://${host}/`), 'source_blocked', address);
    t.notOk(guard.allowsAddress(address, 'credentials.test', 80), address);
  }
  t.equal(refusal(guard, 'http://169.254.169.253/'), null);
  t.equal(refusal(guard, 'http://[fd00:ec2::253]/'), null);
});

t.test(
  'blocks private addresses behind NAT64 prefixes of the operator and the resolver',
  async (t) => {
    const server = await startDnsServer(t, (name, family) => {
      const translated: Readonly<Record<string, readonly string[]>> = {
        'ipv4only.arpa': ['2a00:64:0:0:0:0:c000:aa', '2a00:64:0:0:0:0:c000:ab'],
        'private.test': ['2a00:64:0:0:0:0:a00:1'],
        'metadata.test': ['2a00:64:0:0:0:0:a9fe:a9fe'],
        'public.test': ['2a00:64:0:0:0:0:808:808'],
      };
      return family === 6 ? { addresses: translated[name] ?? [] } : 'no such name';
    });
    const configured = { nat64Prefixes: [parseNat64Prefix('2a00:64::/96') as Network] };
    for (const options of [{ dnsServers: [server.address] }, configured]) {
      const resolve = new NameResolver({ servers: [server.address] });
      const guard = new AddressGuard({
        privateSources: ['metadata.test'],
        sourcePorts,
        own,
        resolve: (...name) => resolve.resolve(...name),
        ...options,
      });
      const lookup = (name: string) =>
        guard.findAddresses(name, 80).then(
          () => null,
          (error: Error) => error.message,
        );
      t.match(await lookup('private.test'), /2a00:64::a00:1 \(private\).*not public/);
      t.match(await lookup('metadata.test'), /not public/);
      t.equal(await lookup('public.test'), null);
      const literal = guard.checkFetched(new URL('http://[2a00:64::10.0.0.1]/'));
      await t.rejects(literal, { code: 'source_blocked' });
      await guard.checkFetched(new URL('http://[2a00:64::8.8.8.8]/'));
    }
  },
);

t.test('delays a single fetch by a second if the NAT64 resolver is silent or fails', async (t) => {
  for (const answer of ['silence', 'failure'] as const) {
    const server = await startDnsServer(t, () => answer);
    const options = { dnsServers: [server.address], privateSources: [], sourcePorts, own };
    const guard = new AddressGuard(options);
    for (let i = 0; i < 20; i += 1) await guard.checkFetched(new URL('http://[2606:4700::1111]/'));
    t.equal(new Set(server.queries).size, 1);
  }
});

t.test('names the address and its range in the error', async (t) => {
  const findMessage = (guard: AddressGuard, url: string) => {
    try {
      guard.check(new URL(url));
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const named = {
    'http://127.1/': '127.0.0.1 (loopback)',
    'http://10.1.2.3/': '10.1.2.3 (private)',
    'http://169.254.169.254/': '169.254.169.254 (link local)',
    'http://168.63.129.16/': '168.63.129.16 (not a public range)',
    'http://[::1]/': '::1 (loopback)',
    'http://[fd00::1]/': 'fd00::1 (unique local)',
    'http://[::ffff:192.168.0.1]/': '192.168.0.1 (private)',
    'http://[4000::1]/': '4000::1 (not a public range)',
  };
  for (const [url, address] of Object.entries(named)) {
    t.equal(findMessage(createGuard(), url), `The source host ${address} is not public.`);
  }
  const lookup = (address: string, port: number) => {
    const resolve = async () => [{ address, family: 4 }];
    const guard = new AddressGuard({ privateSources: [], sourcePorts, own, resolve });
    return guard.findAddresses('cdn.example', port).then(
      () => '',
      (error: Error) => error.message,
    );
  };
  t.equal(
    await lookup('192.168.7.9', 443),
    'The source host cdn.example has the address 192.168.7.9 (private), which is not public and not allowed at port 443.',
  );
  t.match(await lookup('8.8.8.8', 444), /^Sources may not use port 444 of cdn\.example\. /);
});
