import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { canonicalHostPattern } from './hosts.ts';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
/** A network: its base address and prefix length in bits. */
export type Network = readonly [IpAddress, number];

/** The lengths of NAT64 prefixes, in bits (RFC 6052, 2.2). */
export const nat64Lengths: readonly number[] = [32, 40, 48, 56, 64, 96];

export function within(address: IpAddress, list: readonly Network[]): boolean {
  return list.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * Parses an IP address in its standard text form; returns null for other texts. Converts an
 * IPv4-mapped IPv6 address to IPv4, because a socket connects to the IPv4 address.
 */
export function parseAddress(text: string): IpAddress | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4 || !text.includes('.')) return ipaddr.process(text);
  // ipaddr.js treats ::192.0.2.1 as the mapped ::ffff:192.0.2.1, so convert it to hex groups.
  return ipaddr.process(domainToASCII(`[${text.replace(/%.*/, '')}]`).slice(1, -1));
}

/** Parses `10.0.0.0/8`, `fd00::/8` or an address; null for other texts, such as `10/8`. */
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

/** Parses a NAT64 prefix of a length that RFC 6052 allows, such as `64:ff9b::/96`; null for other texts. */
export function parseNat64Prefix(text: string): Network | null {
  const network = parseNetwork(text);
  const isPrefix = network?.[0].kind() === 'ipv6' && nat64Lengths.includes(network[1]);
  return isPrefix ? network : null;
}

/** Whether a text is an IP address with an optional port: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, ipv6, ipv4, port] = /^(?:\[(.+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  return (isIP(ipv6 ?? '') === 6 || isIP(ipv4 ?? '') === 4) && number >= 1 && number <= 65_535;
}

/** The ports of http and https. */
export const defaultPorts: readonly number[] = [80, 443];

/** Ports allowed for sources; null for all ports. */
export type Ports = readonly number[] | null;

/** An entry of SERVICE_PRIVATE_SOURCES: a network, or a host pattern in canonical form. */
export type PrivateSource = { readonly ports: Ports } & (
  | { readonly network: Network }
  | { readonly hosts: string }
);

/** Parses a port from 1 to 65,535; null for other texts. */
export function parsePort(text: string): number | null {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : null;
  return port !== null && port <= 65_535 ? port : null;
}

/**
 * Parses a network, an address or a host pattern, with an optional port or `:*` for all ports; the
 * default are the ports of http and https. An IPv6 address or network with a port is in brackets:
 * `[fd00::/8]:9000`. Null for other texts.
 */
export function parsePrivateSource(text: string): PrivateSource | null {
  const [, base = text, port] = /^(\[[^\]]*\]|[^:[\]]*):([^:]*)$/.exec(text) ?? [];
  const ports = port === undefined ? defaultPorts : readPorts(port);
  if (ports === undefined) return null;
  const network = parseNetwork(base.replace(/^\[(.*)\]$/, '$1'));
  if (network !== null) return { network, ports };
  const hosts = canonicalHostPattern(base);
  return hosts === null ? null : { hosts, ports };
}

function readPorts(text: string): Ports | undefined {
  if (text === '*') return null;
  const port = parsePort(text);
  return port === null ? undefined : [port];
}
