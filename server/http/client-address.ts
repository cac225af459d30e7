import { type IpAddress, type Network, parseAddress, within } from '../../contract/networks.ts';
import { parseHost } from '../../contract/request-host.ts';
import type { HttpRequest } from './request.ts';

/** Maximum entries to read from X-Forwarded-For; real chains are shorter. */
const maxHops = 16;

/**
 * Returns the client's address, or null if the peer's address is unknown. Behind a trusted proxy,
 * it is the last address in X-Forwarded-For that is not a trusted proxy: each proxy appends its
 * peer's address, and a client can forge every earlier entry.
 */
export function clientAddress(
  request: Pick<HttpRequest, 'peerAddress' | 'headerList'>,
  trusted: readonly Network[],
): IpAddress | null {
  let client = parseAddress(request.peerAddress);
  if (client === null || !within(client, trusted)) return client;
  const hops = request.headerList('x-forwarded-for').split(',').slice(-maxHops);
  for (const entry of hops.reverse()) {
    const hop = entry.trim();
    // Some proxies append the port, as in a Host header, which brackets IPv6 addresses.
    const address = parseAddress(parseHost(hop) || hop);
    // This proxy wrote something other than an address: treat the proxy as the client.
    if (address === null) break;
    client = address;
    if (!within(client, trusted)) break;
  }
  return client;
}

/**
 * Prefix lengths of networks that one sender might own. A subscriber gets all addresses of an IPv6
 * /64 (RFC 4291, 2.5.4), mostly a /56, and up to a /48 (RFC 6177); servers can be rented with up to
 * an IPv4 /24.
 */
const prefixLengths = { ipv4: [24, 32], ipv6: [48, 56, 64] } as const;

/** Returns the networks to count an address in, widest first, or an empty list if it is unknown. */
export function clientNetworks(address: IpAddress | null): readonly string[] {
  if (address === null) return [];
  const bytes = Buffer.from(address.toByteArray());
  return prefixLengths[address.kind()].map((bits) => bytes.toString('hex', 0, bits / 8));
}

/** Returns the network that identifies a client, or '' if the address is unknown. */
export const clientNetwork = (address: IpAddress | null): string =>
  clientNetworks(address).at(-1) ?? '';
