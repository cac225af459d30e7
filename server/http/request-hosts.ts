import { LRUCache } from 'lru-cache';
import { canonicalHost } from '../../contract/hosts.ts';
import { type Network, parseAddress, within } from '../../contract/networks.ts';
import { hostOf, isAddressOrLocalhost } from '../../contract/request-host.ts';
import type { HttpRequest } from './request.ts';

/** Host headers as clients write them, up to the length that is parsed; others are read again. */
const known = {
  max: 2_000,
  maxEntrySize: 300,
  sizeCalculation: (_: string, written: string) => written.length + 1,
};
/** A name that no host has (RFC 6761, 6.4), for a header that names none. */
const noHost = 'invalid';

type HostedRequest = Pick<HttpRequest, 'host' | 'header' | 'headerList' | 'peerAddress'>;

/** Reads which host a request is for: that of the URL in the client, if a trusted proxy tells it. */
export class RequestHosts {
  readonly #own: string;
  /** Of the base URL, with a colon. */
  readonly #scheme: string;
  readonly #trusted: readonly Network[];
  readonly #known = new LRUCache<string, string>(known);

  /**
   * @param baseUrl its host is the service's own
   * @param trusted the proxies whose X-Forwarded-Host is read
   */
  constructor(baseUrl: string, trusted: readonly Network[]) {
    const { hostname, protocol } = new URL(baseUrl);
    this.#own = canonicalHost(hostname) ?? '';
    this.#scheme = protocol;
    this.#trusted = trusted;
  }

  /**
   * Returns the host of a request in canonical form, or '' for the service itself: the host of the base URL, an address,
   * `localhost`, or a request without a host. Only before the handler's first await.
   */
  of(request: HostedRequest): string {
    const written = this.#forwarded(request) ?? request.host;
    const cached = this.#known.get(written);
    if (cached !== undefined) return cached;
    const host = this.read(written);
    this.#known.set(written, host);
    return host;
  }

  /** Returns the host of a header, as `of`. */
  read(header: string): string {
    const name = hostOf(header);
    if (header === '' || isAddressOrLocalhost(name)) return '';
    const host = canonicalHost(name) ?? noHost;
    return host === this.#own || isAddressOrLocalhost(host) ? '' : host;
  }

  /**
   * Returns the origin of a request's URL at a canonical host: the scheme comes from X-Forwarded-Proto of a trusted
   * proxy, or from the base URL. Only before the handler's first await.
   */
  originAt(host: string, request: HostedRequest): string {
    const written = this.#forwarded(request) ?? request.host;
    const port = /:\d{1,5}$/.exec(written)?.[0] ?? '';
    const proto = this.#lastForwarded(request, 'x-forwarded-proto')?.toLowerCase();
    const scheme = proto === 'https' || proto === 'http' ? `${proto}:` : this.#scheme;
    const url = `${scheme}//${host}${port}`;
    return URL.canParse(url) ? new URL(url).origin : `${scheme}//${host}`;
  }

  #forwarded(request: HostedRequest): string | null {
    return this.#lastForwarded(request, 'x-forwarded-host');
  }

  /** The value that the nearest trusted proxy has written: a client can forge those before. */
  #lastForwarded(request: HostedRequest, name: string): string | null {
    if (this.#trusted.length === 0 || request.header(name) === '') return null;
    const peer = parseAddress(request.peerAddress);
    if (peer === null || !within(peer, this.#trusted)) return null;
    const values = request.headerList(name);
    return values.slice(values.lastIndexOf(',') + 1).trim();
  }
}
