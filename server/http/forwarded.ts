import { LRUCache } from 'lru-cache';
import { canonicalHost } from '../../contract/hosts.ts';
import { type IpAddress, type Network, parseAddress, within } from '../../contract/networks.ts';
import { isAddressOrLocalhost, parseHost } from '../../contract/request-host.ts';
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

/** Caches parsed Host headers up to this length; longer headers are parsed each time. */
const known = {
  max: 2_000,
  maxEntrySize: 300,
  sizeCalculation: (_: string, written: string) => written.length + 1,
};
/** For invalid headers. It is not canonical, so no project can use it. */
const noHost = 'invalid.';

type HostedRequest = Pick<HttpRequest, 'host' | 'header' | 'headerList' | 'peerAddress'>;

/**
 * Determines a request's host: the host of the client's URL, as reported by a trusted proxy, if
 * any.
 */
export class RequestHosts {
  readonly #own: string;
  /** The base URL's scheme, including the colon. */
  readonly #scheme: string;
  /** The base URL's port, or '' for the scheme's default port. */
  readonly #port: string;
  readonly #trusted: readonly Network[];
  readonly #known = new LRUCache<string, string>(known);

  /**
   * @param baseUrl its host is the service's own
   * @param trusted the proxies that can set X-Forwarded-Host
   */
  constructor(baseUrl: string, trusted: readonly Network[]) {
    const { hostname, protocol, port } = new URL(baseUrl);
    this.#own = canonicalHost(hostname) ?? '';
    this.#scheme = protocol;
    this.#port = port;
    this.#trusted = trusted;
  }

  /**
   * Returns the hosts that a request can mean, most likely first, each like `read`. Many trusted
   * proxies forward both Host and a client's X-Forwarded-Host, which their caches ignore, so Host
   * comes first, unless it is the service's own. Call it before the handler's first await.
   */
  candidates(request: HostedRequest): readonly string[] {
    const forwarded = this.#forwarded(request);
    const host = this.#canonical(request.host);
    if (forwarded === null) return [host];
    return host === '' ? [this.#canonical(forwarded)] : [host, this.#canonical(forwarded)];
  }

  #canonical(written: string): string {
    const cached = this.#known.get(written);
    if (cached !== undefined) return cached;
    const host = this.read(written);
    this.#known.set(written, host);
    return host;
  }

  /**
   * Returns a header's host in canonical form, or '' for the service itself: the base URL's host,
   * an address, `localhost`, or no host.
   */
  read(header: string): string {
    const name = parseHost(header);
    if (header === '' || isAddressOrLocalhost(name)) return '';
    const host = canonicalHost(name) ?? noHost;
    return host === this.#own || isAddressOrLocalhost(host) ? '' : host;
  }

  /**
   * Returns a function that returns a URL's origin at one of the request's hosts, with the base
   * URL's scheme. The request's port counts only if it is the base URL's. Caches often ignore the
   * port and X-Forwarded-Proto in their keys, so a client could otherwise send other clients to a
   * port or scheme of its choice. Call it before the handler's first await.
   */
  createOriginFinder(request: HostedRequest): (host: string) => string {
    const all = [request.host, this.#forwarded(request) ?? ''];
    return (host) => {
      const written = all.find((header) => this.#canonical(header) === host) ?? '';
      const port = this.#port === '' ? '' : `:${this.#port}`;
      return `${this.#scheme}//${host}${written.endsWith(port) ? port : ''}`;
    };
  }

  /** Returns the host written by the nearest trusted proxy: a client can forge earlier values. */
  #forwarded(request: HostedRequest): string | null {
    const name = 'x-forwarded-host';
    if (this.#trusted.length === 0 || request.header(name) === '') return null;
    const peer = parseAddress(request.peerAddress);
    if (peer === null || !within(peer, this.#trusted)) return null;
    const values = request.headerList(name);
    return values.slice(values.lastIndexOf(',') + 1).trim();
  }
}
