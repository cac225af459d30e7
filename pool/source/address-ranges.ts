import ipaddr from 'ipaddr.js';
import { type IpAddress, within } from '../../contract/networks.ts';
import { destinations, type Nat64Prefixes } from './addresses.ts';

/** Ranges without public hosts, the smaller ones first, by name (IANA's special-purpose registries, RFC 6890). */
const ranges = (
  [
    ['Azure platform', '168.63.129.16/32'],
    ['unspecified', '0.0.0.0/8', '::/128'],
    ['loopback', '127.0.0.0/8', '::1/128'],
    ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    ['unique local', 'fc00::/7'],
    ['link-local', '169.254.0.0/16', 'fe80::/10'],
    ['shared, carrier-grade NAT', '100.64.0.0/10'],
    ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
    ['documentation', '2001:db8::/32', '3fff::/20'],
    ['benchmarking', '198.18.0.0/15'],
    ['protocol assignments', '192.0.0.0/24', '2001::/23'],
    ['multicast', '224.0.0.0/4', 'ff00::/8'],
    ['reserved', '240.0.0.0/4'],
    ['6to4', '2002::/16'],
  ] as const
).flatMap(([name, ...cidrs]) =>
  cidrs.map((cidr) => ({ name, cidr, network: ipaddr.parseCIDR(cidr) })),
);

/**
 * An address with the name and the network of its range, such as `127.0.0.1 (loopback, 127.0.0.0/8)`. For a translated
 * address it is the range of the IPv4 address that it leads to.
 */
export function withRange(address: IpAddress, nat64: Nat64Prefixes): string {
  const [reached = address] = destinations(address, nat64);
  const range = ranges.find(({ network }) => within(reached, [network]));
  return `${address} (${range === undefined ? 'not a public range' : `${range.name}, ${range.cidr}`})`;
}
