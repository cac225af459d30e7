import ipaddr from 'ipaddr.js';
import { type Address, type Network, within } from '../../contract/networks.ts';

const networks = (...cidrs: string[]): readonly Network[] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/** All that IANA gives out for global unicast (RFC 4291, 2.4); outside of it nothing is public. */
const globalUnicast = networks('2000::/3');

/** What is not a public host in there: IANA's special-purpose registry (RFC 6890). */
const specialPurpose6 = networks(
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drone ids
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: ends wherever the next relay takes it, also when the IPv4 inside is public
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
);

/** The well-known NAT64 prefix (RFC 6052): on such a network the way to public IPv4 hosts. */
const nat64 = networks('64:ff9b::/96');

/** Looks public and is the host's own service for its guests in one big cloud. */
const cloudServices = networks('168.63.129.16/32');

/**
 * True for an address that belongs to a host on the public internet. Every other kind is false:
 * this host, private, shared, link-local, multicast, documentation, benchmarking, tunnels, reserved
 * and not yet given out (RFC 6890 and the IANA registries that it founded).
 */
export function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && !within(address, cloudServices);
  }
  if (within(address, nat64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return within(address, globalUnicast) && !within(address, specialPurpose6);
}

/** True for addresses that reach the machine itself: loopback, and "unspecified" as a target. */
export function isThisMachine(address: Address): boolean {
  const range = address.range();
  return range === 'loopback' || range === 'unspecified';
}

/**
 * Top-level names that never belong to a public host: loopback (RFC 6761, 6.3), multicast DNS
 * (RFC 6762), private use (reserved by ICANN in 2024), home networks (RFC 8375), and two that must
 * not be looked up in DNS at all (RFC 7686, RFC 9476). `.test`, `.example` and `.invalid` are not
 * among them: applications should treat the first two like other names (RFC 6761, 6.2 and 6.5),
 * and the third does not exist, which is another answer than "not public".
 */
const notPublic = ['localhost', 'local', 'internal', 'home.arpa', 'onion', 'alt'];

/** True when a canonical host name can be one of a public host, by its form alone. */
export function isPublicName(name: string): boolean {
  const labels = name.split('.');
  return (
    labels.length > 1 &&
    !labels.includes('') &&
    !notPublic.some((suffix) => name.endsWith(`.${suffix}`))
  );
}
