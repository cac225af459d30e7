import { type Cookie, parseCookie } from 'undici';
import { addressOfHost } from './addresses.ts';

/** Limits per fetch. Servers that check for cookies set one or two. */
const maxCookies = 20;
const maxBytes = 8_192;

interface StoredCookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  /** Whether the host's subdomains receive it too. */
  readonly withSubdomains: boolean;
  readonly path: string;
  readonly secure: boolean;
}

/**
 * Cookies from a fetch's responses for its later redirects (RFC 6265), because some servers
 * redirect only to detect whether a client accepts cookies. They end with the fetch.
 */
export class RedirectCookies {
  readonly #cookies = new Map<string, StoredCookie>();
  #bytes = 0;

  /** Stores the cookies of a response's Set-Cookie headers. */
  store(headers: string | string[] | undefined, url: URL): void {
    for (const header of [headers ?? []].flat().slice(0, maxCookies)) {
      const cookie = header.length <= maxBytes ? parseCookie(header) : null;
      const stored = cookie && acceptedCookie(cookie, url);
      if (cookie === null || stored === null) continue;
      const key = JSON.stringify([stored.name, stored.host, stored.path]);
      this.#delete(key);
      if (!hasExpired(cookie)) this.#add(key, stored);
    }
  }

  /** Returns a request's Cookie header value, or null. */
  headerFor(url: URL): string | null {
    const sent = [...this.#cookies.values()].filter((cookie) => belongsTo(cookie, url));
    // RFC 6265, 5.4: longer paths first.
    sent.sort((a, b) => b.path.length - a.path.length);
    return sent.length === 0 ? null : sent.map(toPair).join('; ');
  }

  #add(key: string, cookie: StoredCookie): void {
    const bytes = toPair(cookie).length;
    if (this.#cookies.size >= maxCookies || this.#bytes + bytes > maxBytes) return;
    this.#cookies.set(key, cookie);
    this.#bytes += bytes;
  }

  #delete(key: string): void {
    const cookie = this.#cookies.get(key);
    if (cookie === undefined) return;
    this.#cookies.delete(key);
    this.#bytes -= toPair(cookie).length;
  }
}

const toPair = ({ name, value }: StoredCookie): string =>
  name === '' ? value : `${name}=${value}`;

/** Returns a cookie as stored for a response's URL; null if the URL must not set it. */
function acceptedCookie(cookie: Cookie, url: URL): StoredCookie | null {
  const { name, value, secure = false, path } = cookie;
  const domain = cookie.domain?.toLowerCase() ?? '';
  const withSubdomains = domain !== '' && domain !== url.hostname;
  if (withSubdomains && !(domain.includes('.') && isSubdomain(url.hostname, domain))) return null;
  if (secure && url.protocol !== 'https:') return null;
  return {
    name,
    value,
    host: withSubdomains ? domain : url.hostname,
    withSubdomains: domain !== '',
    path: path?.startsWith('/') ? path : defaultPath(url),
    secure,
  };
}

const hasExpired = ({ maxAge, expires }: Cookie): boolean =>
  maxAge === undefined ? expires !== undefined && Number(expires) <= Date.now() : maxAge <= 0;

/** Returns a cookie's default path (RFC 6265, 5.1.4). */
function defaultPath({ pathname }: URL): string {
  return pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')));
}

function belongsTo({ host, withSubdomains, path, secure }: StoredCookie, url: URL): boolean {
  const { hostname, pathname, protocol } = url;
  const hasHost = hostname === host || (withSubdomains && isSubdomain(hostname, host));
  const isBelow = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return hasHost && isBelow && (!secure || protocol === 'https:');
}

/** Returns whether a host, not an IP address, is below a domain (RFC 6265, 5.1.3). */
const isSubdomain = (host: string, domain: string): boolean =>
  host.endsWith(`.${domain}`) && addressOfHost(host) === null;
