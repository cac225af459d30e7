import { isIP, isIPv4 } from 'node:net';
import { domainToASCII } from 'node:url';

/** RFC 1035: 63 octets per label, 253 in total. Underscores are invalid in host names but in use. */
const labelSource = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const label = new RegExp(`^${labelSource}$`);
/** Matches most canonical names. Parsing a URL takes 12 µs, and a miss compares its host often. */
const plainName = new RegExp(`^(?!.*xn--)(?:${labelSource}\\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);

/** Longest authority or host to parse, in characters. */
const maxAuthority = 1_024;
/** Longest name with non-ASCII letters: names have at most 253 octets. */
const maxInternational = 253;

/**
 * Returns whether an authority or host is too long to parse. Converting an internationalised name
 * takes time quadratic in its length: 40 ms for 4,500 letters.
 */
export function isLongAuthority(text: string): boolean {
  if (text.length <= maxInternational) return false;
  return text.length > maxAuthority || /[^\0-\x7f]/.test(text);
}

/**
 * The authority (user information, host and port) of an HTTP URL or a relative reference, without
 * parsing the URL; '' for a path.
 */
export function readAuthority(reference: string): string {
  // The URL standard ignores these characters and treats a backslash as a slash.
  const text = reference.replace(/^[\0-\x20]+|[\t\n\r]/g, '');
  return /^(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(text)?.[1] ?? '';
}

/**
 * Returns the form in which hosts are stored and compared: lower-case ASCII (UTS #46) without a
 * trailing dot; IP addresses in canonical form, IPv6 in brackets. Returns null for an overlong text
 * and for anything but a bare host, such as a text with a port, scheme, path, user information or
 * empty label.
 */
export function canonicalHost(text: string): string | null {
  if (isLongAuthority(text)) return null;
  if (text.length <= 253 && (plainName.test(text) || isIPv4(text))) return text;
  const literal = /^\[[0-9a-f:.]+\]$/i.test(text);
  if (!literal && /[\s/\\:@?#[\]%]/.test(text)) return null;
  const ascii = literal ? text : domainToASCII(text.replace(/\.$/, ''));
  if (ascii === '' || ascii.length > 253) return null;
  const url = URL.canParse(`http://${ascii}/`) ? new URL(`http://${ascii}/`) : null;
  if (url === null) return null;
  if (url.hostname.startsWith('[')) return url.hostname;
  return url.hostname.split('.').every((part) => label.test(part)) ? url.hostname : null;
}

/**
 * Returns a canonical host followed by the URL's port, unless the port is the scheme's default:
 * `photos.example.com`, `photos.example.com:8443`. Returns null for other texts, including
 * wildcards.
 */
export function canonicalAuthority(text: string): string | null {
  const [, name = text, digits] = /^(.+):([1-9]\d{0,4})$/s.exec(text) ?? [];
  const host = canonicalHost(name);
  const port = Number(digits ?? 443);
  if (host === null || port > 65_535) return null;
  return port === 443 || port === 80 ? host : `${host}:${port}`;
}

/**
 * Returns a source URL without fragment and trailing host dot, for requests and cache keys; the same
 * object if it has neither.
 */
export function canonicalUrl(url: URL): URL {
  const host = canonicalHost(url.hostname) ?? url.hostname;
  if (host === url.hostname && !url.href.includes('#')) return url;
  const copy = new URL(url);
  copy.hash = '';
  copy.hostname = host;
  return copy;
}

/**
 * Returns an allowlist entry in canonical form: a host, or `*.example.com` with a `*` that matches
 * any number of labels, at least one. Returns null for other texts.
 */
export function canonicalHostPattern(text: string): string | null {
  if (!text.startsWith('*.')) return canonicalHost(text);
  const host = canonicalHost(text.slice(2));
  return host === null || host.startsWith('[') || isIP(host) !== 0 ? null : `*.${host}`;
}

/** Whether a canonical host matches one of the canonical patterns. */
export function hostMatches(patterns: readonly string[], host: string): boolean {
  return patterns.some((entry) =>
    entry.startsWith('*.')
      ? host.length > entry.length - 1 && host.endsWith(entry.slice(1))
      : host === entry,
  );
}
