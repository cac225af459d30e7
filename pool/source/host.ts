import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { type Address, parseAddress } from './addresses.ts';

/**
 * A host as the WHATWG URL standard writes it, but without a trailing dot: lower-case ASCII, IDN
 * converted, IPv4 in four decimal parts, IPv6 in brackets. Null when it is no host alone.
 */
export function canonicalHost(host: string): string | null {
  const bare = isIPv6(host) ? `[${host}]` : host;
  // The conversion below would cut off or decode what a URL may have around its host.
  if (!/^(\[[0-9a-f:.]+\]|[^\s/\\?#@:%[\]]+)$/i.test(bare)) return null;
  const ascii = domainToASCII(bare).replace(/\.$/, '');
  return ascii === '' ? null : ascii;
}

/** The address that a canonical host is, or null for a name. */
export function literalAddress(host: string): Address | null {
  return parseAddress(host.startsWith('[') ? host.slice(1, -1) : host);
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

/** Names by themselves or, as `*.example.com`, all below one. */
export class HostNames {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];

  /** False for what is neither a name nor a wildcard above one. */
  add(pattern: string): boolean {
    const wildcard = pattern.startsWith('*.');
    const name = canonicalHost(wildcard ? pattern.slice(2) : pattern);
    if (name === null || name.includes('*')) return false;
    if (wildcard) this.#suffixes.push(`.${name}`);
    else this.#names.add(name);
    return true;
  }

  /** Takes a canonical host. */
  has(host: string): boolean {
    return this.#names.has(host) || this.#suffixes.some((suffix) => host.endsWith(suffix));
  }
}
