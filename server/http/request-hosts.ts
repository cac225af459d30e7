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
  readonly #trusted: readonly Network[];
  readonly #known = new LRUCache<string, string>(known);

  /**
   * @param baseUrl its host is the service's own
   * @param trusted the proxies whose X-Forwarded-Host is read
   */
  constructor(baseUrl: string, trusted: readonly Network[]) {
    this.#own = canonicalHost(new URL(baseUrl).hostname) ?? '';
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

  /** The host that the nearest trusted proxy has written: a client can forge those before. */
  #forwarded(request: HostedRequest): string | null {
    if (this.#trusted.length === 0 || request.header('x-forwarded-host') === '') return null;
    const peer = parseAddress(request.peerAddress);
    if (peer === null || !within(peer, this.#trusted)) return null;
    const hosts = request.headerList('x-forwarded-host');
    return hosts.slice(hosts.lastIndexOf(',') + 1).trim();
  }
}
