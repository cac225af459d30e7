import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A network: its base address and prefix length in bits. */
export type Network = readonly [Address, number];

/** True when one of the networks contains the address. */
export function within(address: Address, list: readonly Network[]): boolean {
  return list.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * An IP address in its standard text form, or null for any other text. An IPv4-mapped IPv6 address
 * is returned as the IPv4 address, because that is the address a socket connects to.
 */
export function parseAddress(text: string): Address | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4 || !text.includes('.')) return ipaddr.process(text);
  // ipaddr.js mistakes ::192.0.2.1 for the mapped ::ffff:192.0.2.1, so convert it to hex groups.
  return ipaddr.process(domainToASCII(`[${text.replace(/%.*/, '')}]`).slice(1, -1));
}

/** "10.0.0.0/8", "fd00::/8" or one address; null for anything else, short forms included. */
export function parseNetwork(text: string): Network | null {
  const [base = '', bits, more] = text.split('/');
  const address = parseAddress(base);
  if (address === null || more !== undefined) return null;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, width];
  // parseAddress dropped the 96-bit prefix of a mapped base, so the prefix length is ambiguous.
  if (isIP(base) === 6 && width === 32) return null;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= width ? [address, Number(bits)] : null;
}

/** Whether a text is an IP address with an optional port: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, six, four, port] = /^(?:\[(.+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  return (isIP(six ?? '') === 6 || isIP(four ?? '') === 4) && number >= 1 && number <= 65_535;
}
