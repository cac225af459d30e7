import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A network as its first address and the length of its prefix in bits. */
export type Network = readonly [Address, number];

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

/** True when one of the networks holds the address. */
export function within(address: Address, list: readonly Network[]): boolean {
  return list.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * An IP address in its standard text form, or null for any other text. An IPv4-mapped IPv6 address
 * becomes the IPv4 address that it stands for: a socket connects to just that.
 */
export function parseAddress(text: string): Address | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4 || !text.includes('.')) return ipaddr.process(text);
  // ipaddr.js takes ::192.0.2.1 for the mapped ::ffff:192.0.2.1, so it gets groups of hex digits.
  return ipaddr.process(domainToASCII(`[${text.replace(/%.*/, '')}]`).slice(1, -1));
}

/** "10.0.0.0/8", "fd00::/8" or one address; null for anything else, short forms included. */
export function parseNetwork(text: string): Network | null {
  const [base = '', bits, more] = text.split('/');
  const address = parseAddress(base);
  if (address === null || more !== undefined) return null;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, width];
  // A mapped base lost its 96 bits above; better refused than misunderstood.
  if (isIP(base) === 6 && width === 32) return null;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= width ? [address, Number(bits)] : null;
}

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
