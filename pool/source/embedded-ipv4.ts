import ipaddr from 'ipaddr.js';
import { type IpAddress, type Network, within } from '../../contract/networks.ts';

/** The byte of RFC 6052 that is no part of an embedded address. */
const reservedByte = 8;

/**
 * The IPv4 address to which packets for an IPv6 address are sent: by a translator with one of the NAT64 prefixes, or in
 * an ISATAP tunnel (RFC 5214, 6.1). Null for other addresses.
 */
export function embeddedIpv4(
  address: IpAddress,
  nat64Prefixes: readonly Network[],
): ipaddr.IPv4 | null {
  if (address instanceof ipaddr.IPv4) return null;
  const prefix = nat64Prefixes.find((network) => within(address, [network]));
  if (prefix !== undefined) return translated(address, prefix[1]);
  const bytes = address.toByteArray();
  // The universal bit of the interface identifier may be set.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0;
  return isIsatap && bytes[10] === 0x5e && bytes[11] === 0xfe
    ? new ipaddr.IPv4(bytes.slice(12))
    : null;
}

/** The IPv4 address after a prefix of a length. */
export function translated(address: ipaddr.IPv6, length: number): ipaddr.IPv4 {
  const bytes = address.toByteArray();
  const start = length / 8;
  const places = Array.from({ length: 5 }, (_, index) => start + index);
  const used = places.filter((place) => place !== reservedByte).slice(0, 4);
  return new ipaddr.IPv4(used.map((place) => bytes[place] ?? 0));
}
