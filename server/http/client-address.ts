import { isIP } from 'node:net';
import { type Address, type Network, parseAddress, within } from '../../contract/networks.ts';
import type { HttpRequest } from './request.ts';

/** More proxies than any client comes through. */
const maxHops = 16;

/**
 * The address that a request comes from: the peer's, and when that is a trusted proxy, the last one in
 * X-Forwarded-For that is none, because each proxy appends the address of its own peer and all before
 * the first trusted proxy's entry is what the client claims. Null when the peer's is not known.
 */
export function clientAddress(
  request: Pick<HttpRequest, 'peerAddress' | 'headerList'>,
  trusted: readonly Network[],
): Address | null {
  let client = parseAddress(request.peerAddress);
  if (client === null || !within(client, trusted)) return client;
  const hops = request.headerList('x-forwarded-for').split(',').slice(-maxHops);
  for (const hop of hops.reverse()) {
    const address = parseAddress(withoutPort(hop.trim()));
    // What a trusted proxy does not know stays unknown; the proxy's own address then stands for it.
    if (address === null) break;
    client = address;
    if (!within(client, trusted)) break;
  }
  return client;
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, six, four] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop) ?? [];
  const address = six ?? four;
  return address !== undefined && isIP(address) !== 0 ? address : hop;
}

/**
 * The part of an address that stands for one client: of IPv6 the first 64 bits, because a client has
 * all addresses of such a network (RFC 4291, 2.5.4).
 */
export function clientNetwork(address: Address | null): string {
  if (address === null) return '';
  const text = address.toNormalizedString();
  return address.kind() === 'ipv4' ? text : text.split(':', 4).join(':');
}
