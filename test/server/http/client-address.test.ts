import t from 'tap';
import { parseAddress, parseNetwork } from '../../../contract/networks.ts';
import { clientAddress, clientNetwork, clientNetworks } from '../../../server/http/forwarded.ts';

const trusted = ['10.0.0.0/8', '2001:db8::/64']
  .map(parseNetwork)
  .filter((parsed) => parsed !== null);
const client = (peerAddress: string, forwarded: string, proxies = trusted) => {
  const headerList = (name: string) => (name === 'x-forwarded-for' ? forwarded : '');
  return String(clientAddress({ peerAddress, headerList }, proxies));
};

t.test('takes the client address from the last trusted proxy', async (t) => {
  const cases = [
    ['192.0.2.1', '', '192.0.2.1', 'no proxy'],
    ['192.0.2.1', '198.51.100.1', '192.0.2.1', 'an untrusted proxy, or a forged header'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1', 'one proxy'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1', 'an IPv4 address of an IPv6 socket'],
    ['2001:db8::1', '198.51.100.1', '198.51.100.1', 'over IPv6'],
    [
      '10.0.0.1',
      '203.0.113.9,198.51.100.1 , 10.0.0.2',
      '198.51.100.1',
      'two proxies, and a forged entry',
    ],
    ['10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3', 'a client within the trusted networks'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1', 'with a port'],
    ['10.0.0.1', '[2001:db8:1::1]:4711', '2001:db8:1::1', 'with a port'],
    ['10.0.0.1', '2001:db8:1::1', '2001:db8:1::1', 'without a port'],
    ['10.0.0.1', '', '10.0.0.1', 'an empty header of a proxy'],
    ['10.0.0.1', '198.51.100.1, unknown', '10.0.0.1', 'a proxy with an unknown peer'],
    [
      '10.0.0.1',
      '198.51.100.1,_hidden,10.0.0.2',
      '10.0.0.2',
      'an obfuscated peer of the first proxy',
    ],
    ['10.0.0.1', '198.51.100.1, ', '10.0.0.1', 'an empty entry'],
    ['', '198.51.100.1', 'null', 'an unknown peer'],
  ] as const;
  for (const [peer, forwarded, expected, name] of cases) {
    t.equal(client(peer, forwarded), expected, `${name}: ${peer} ${forwarded}`);
  }
  t.equal(client('10.0.0.1', '198.51.100.1', []), '10.0.0.1', 'none is trusted by default');
});

t.test('identifies an IPv6 client by its /64 network', async (t) => {
  const network = (text: string) => clientNetwork(parseAddress(text));
  t.equal(network('2001:db8:1:2::1'), network('2001:db8:1:2:ffff:1:2:3'));
  t.not(network('2001:db8:1:2::1'), network('2001:db8:1:3::1'));
  t.not(network('192.0.2.1'), network('192.0.2.2'));
  t.equal(network('::ffff:192.0.2.1'), network('192.0.2.1'));
  t.equal(clientNetwork(null), '');
});

t.test('names the networks of an address, the widest first', async (t) => {
  const networks = (text: string) => clientNetworks(parseAddress(text));
  const shared = (first: string, second: string) =>
    networks(first).filter((network) => networks(second).includes(network)).length;
  t.equal(shared('2001:db8:1:1234::1', '2001:db8:1:1234::2'), 3, 'the /64');
  t.equal(shared('2001:db8:1:1234::1', '2001:db8:1:12ff::1'), 2, 'the /56');
  t.equal(shared('2001:db8:1:1234::1', '2001:db8:1:ff34::1'), 1, 'the /48');
  t.equal(shared('2001:db8:1::1', '2001:db8:2::1'), 0);
  t.equal(shared('192.0.2.1', '::ffff:192.0.2.1'), 2, 'the IPv4 address');
  t.equal(shared('192.0.2.1', '192.0.2.2'), 1, 'the /24');
  t.equal(shared('192.0.2.1', '192.0.3.1'), 0);
  t.equal(networks('192.0.2.1')[0], networks('192.0.2.9')[0]);
  t.same(clientNetworks(null), []);
});
