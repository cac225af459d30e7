import t from 'tap';
import { parseNetwork } from '../../../contract/networks.ts';
import { ClientConnections } from '../../../server/http/connection-limit.ts';
import { WaitingConnections } from '../../../server/http/waiting-connections.ts';

const limit = 640;
/** Number of connections to close at a time. */
const batch = 10;

/** Adds a waiting connection per address, and returns the addresses of closed connections. */
function closedAddresses(addresses: readonly string[], batches = 1, network?: string): string[] {
  const trusted = [parseNetwork('192.0.2.0/24')].filter((parsed) => parsed !== null);
  const connections = new ClientConnections(limit, trusted);
  const waiting = new WaitingConnections();
  const closed: string[] = [];
  for (const address of addresses) {
    const close = () => void closed.push(address);
    waiting.add({ networks: connections.countedNetworks(address), close });
  }
  for (let done = 0; done < batches; done += 1) waiting.closeSome(limit, network);
  return closed;
}

const many = (count: number, address: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => address(index));

t.test('closes connections of the largest network, whatever addresses it uses', async (t) => {
  const neighbours = ['2001:db8:ffff::1', '2001:db8:ffff::1', '198.51.100.1', '198.51.100.1'];
  const attacks = {
    '/64': () => '2001:db8:1:1::1',
    '/56': (index: number) => `2001:db8:1:1${index.toString(16).padStart(2, '0')}::1`,
    '/48': (index: number) => `2001:db8:1:${index.toString(16)}00::1`,
    'IPv4 /24': (index: number) => `203.0.113.${index}`,
  };
  for (const [name, address] of Object.entries(attacks)) {
    const closed = closedAddresses([...neighbours, ...many(50, address)], 4);
    t.equal(closed.length, 4 * batch);
    t.same(
      closed.filter((closedAddress) => neighbours.includes(closedAddress)),
      [],
      name,
    );
  }
});

t.test('closes connections of the narrowest network with the most in a wide one', async (t) => {
  const address = (subnet: string) => (index: number) => `2001:db8:1:${subnet}::${index + 1}`;
  const household = many(20, address('1100'));
  const others = ['1200', '1300', '1400'].map((subnet) => address(subnet)(0));
  t.same(
    closedAddresses([...others, ...household]),
    household.slice(0, batch),
    'the longest waiting',
  );
  const elsewhere = many(15, (index) => `2001:db8:2:${index}::1`);
  const reduced = closedAddresses([...household, ...elsewhere]);
  t.equal(reduced.filter((keptAddress) => household.includes(keptAddress)).length, 8);
  t.equal(
    reduced.filter((keptAddress) => elsewhere.includes(keptAddress)).length,
    2,
    'to equal numbers',
  );
});

t.test('closes connections of trusted proxies last, and the longest waiting first', async (t) => {
  const proxies = many(50, (index) => `192.0.2.${index % 3}`);
  const clients = many(batch + 1, () => '203.0.113.1');
  t.same(closedAddresses([...proxies, ...clients]), clients.slice(0, batch));
  t.same(closedAddresses(proxies), proxies.slice(0, batch));
});

t.test('closes only connections of a given network', async (t) => {
  const [address = ''] = new ClientConnections(limit).countedNetworks('203.0.113.1');
  const others = many(50, () => '198.51.100.1');
  t.same(closedAddresses([...others, '203.0.113.7', '203.0.113.1'], 1, address), [
    '203.0.113.7',
    '203.0.113.1',
  ]);
});
