import t from 'tap';
import { parseAddress, parseNetwork } from '../../contract/networks.ts';

t.test('an address has the standard text form', async (t) => {
  for (const text of ['', '127.1', '0x7f000001', '2130706433', '0177.0.0.1', '[::1]', 'a.b', '1']) {
    t.equal(parseAddress(text), null, text);
  }
});

t.test('a network is a CIDR or an address, in full', async (t) => {
  for (const text of ['10.0.0.0/8', '127.0.0.1', '::1/128', 'fd00::/8', '0.0.0.0/0', '::/0']) {
    t.ok(parseNetwork(text), text);
  }
  const others =
    '10/8 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/ 10.0.0.0/8/8 ::/129 10.0.0.0/8x ::ffff:10.0.0.0/104 example.com example.com/8 10.0.0.0/255.0.0.0';
  for (const text of ['', ...others.split(' ')]) t.equal(parseNetwork(text), null, text);
});
