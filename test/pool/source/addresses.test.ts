import t from 'tap';
import {
  type IpAddress,
  type Network,
  parseAddress,
  parseNat64Prefix,
} from '../../../contract/networks.ts';
import { isPublic, type Nat64Prefixes } from '../../../pool/source/addresses.ts';

const judge = (text: string) => {
  const address = parseAddress(text);
  return address === null ? null : isPublic(address);
};

t.test('recognises addresses that are not public', async (t) => {
  const table: Record<string, readonly string[]> = {
    'this network': ['0.0.0.0', '0.1.2.3', '0.255.255.255', '::'],
    loopback: ['127.0.0.1', '127.255.255.254', '::1'],
    private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    shared: ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
    'link-local': ['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%lo'],
    'cloud services': ['168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
    'protocol assignments': ['192.0.0.1', '192.0.0.9', '192.0.0.170', '2001:1::1', '2001:1ff::1'],
    documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff:fff::1'],
    benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
    'anycast services': ['192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
    multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
    reserved: ['240.0.0.1', '254.1.1.1', '255.255.255.255'],
    'unique local': ['fc00::1', 'fd12:3456::1'],
    'site-local': ['fec0::1', 'feff::1'],
    mapped: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
    compatible: ['::127.0.0.1', '::10.0.0.1', '::8.8.8.8', '::7f00:1'],
    translated: ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
    'NAT64 of non-public addresses': ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::a00:1'],
    'local NAT64': ['64:ff9b:1::8.8.8.8', '64:ff9b:1:fffe::1'],
    '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1'],
    // The last address contains the client 127.0.0.1 with all bits inverted.
    Teredo: ['2001::1', '2001:0:4136:e378::1', '2001:0:808:808::80ff:fffe'],
    ORCHID: ['2001:10::1', '2001:20::1', '2001:2f:ffff::1'],
    'drone ids': ['2001:30::1'],
    'AMT and AS112': ['2001:3::1', '2001:4:112::1', '2620:4f:8000::1'],
    'ISATAP of non-public addresses': [
      '2003::5efe:10.0.0.1',
      '2003::200:5efe:a9fe:a9fe',
      '2003:1:2:3:0:5efe:7f00:1',
    ],
    discard: ['100::1', '100:0:0:1::1'],
    'segment routing': ['5f00::1'],
    'not allocated': ['4000::1', '8000::1', 'e000::1', '1::1', '1fff:ffff::1'],
  };
  for (const [kind, addresses] of Object.entries(table)) {
    for (const address of addresses) t.equal(judge(address), false, `${kind}: ${address}`);
  }
});

t.test('recognises public addresses, up to the limits of other ranges', async (t) => {
  const addresses = {
    DNS: ['1.1.1.1', '8.8.8.8', '2001:4860:4860::8888', '2606:4700::1111'],
    'beside private ranges': ['9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0'],
    'beside 192.168.0.0/16': ['192.167.255.255', '192.169.0.0'],
    'beside the shared range': ['100.63.255.255', '100.128.0.0'],
    'beside loopback': ['126.255.255.255', '128.0.0.0'],
    'beside link-local': ['169.253.255.255', '169.255.0.0'],
    'beside cloud services': ['168.63.129.15'],
    'beside documentation': ['192.0.1.0', '192.0.3.0', '203.0.112.255', '203.0.114.0'],
    'beside benchmarking': ['198.17.255.255', '198.20.0.0'],
    'below multicast': ['223.255.255.255'],
    'global unicast': ['2000::1', '2001:200::1', '2003::1', '3ffe::1'],
    mapped: ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
    ISATAP: ['2003::5efe:8.8.8.8', '2003::200:5efe:8.8.8.8', '2003::100:5efe:10.0.0.1'],
  };
  for (const address of Object.values(addresses).flat()) t.equal(judge(address), true, address);
});

t.test('reads the address inside a NAT64 prefix', async (t) => {
  // The forms of RFC 6052, 2.4, with addresses outside the documentation range.
  const forms: Readonly<Record<string, readonly [ofPublic: string, ofPrivate: string]>> = {
    '2a00:db8::/32': ['2a00:db8:808:808::', '2a00:db8:a00:1::'],
    '2a00:db8:100::/40': ['2a00:db8:108:808:8::', '2a00:db8:10a:0:1::'],
    '2a00:db8:122::/48': ['2a00:db8:122:808:8:800::', '2a00:db8:122:a00:0:100::'],
    '2a00:db8:122:300::/56': ['2a00:db8:122:308:8:808::', '2a00:db8:122:30a:0:1::'],
    '2a00:db8:122:344::/64': ['2a00:db8:122:344:8:808:800:0', '2a00:db8:122:344:a:0:100:0'],
    '2a00:db8:122:344::/96': ['2a00:db8:122:344::8.8.8.8', '2a00:db8:122:344::10.0.0.1'],
    'fd00:64::/96': ['fd00:64::8.8.8.8', 'fd00:64::127.0.0.1'],
  };
  for (const [text, [ofPublic, ofPrivate]] of Object.entries(forms)) {
    const prefix = parseNat64Prefix(text) as Network;
    const isIn = (address: string, nat64: Nat64Prefixes) =>
      isPublic(parseAddress(address) as IpAddress, nat64);
    const configured = { configured: [prefix], discovered: [] };
    t.same([isIn(ofPublic, configured), isIn(ofPrivate, configured)], [true, false], text);
    const discovered = { configured: [], discovered: [prefix] };
    t.equal(isIn(ofPrivate, discovered), false, text);
    t.equal(isIn(ofPublic, discovered), !text.startsWith('fd'), 'a resolver makes none public');
  }
  for (const text of ['10.0.0.0/8', '64:ff9b::/95', '64:ff9b::', '::ffff:10.0.0.0/96', 'a/96']) {
    t.equal(parseNat64Prefix(text), null, text);
  }
});
