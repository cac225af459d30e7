import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/**
 * RFC 1035: 63 octets per label, 253 in total. Underscores are invalid in host names but in use.
 */
const labelSource = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const label = new RegExp(`^${labelSource}$`);

/** The longest text that is read as a URL's authority or as a host, in characters. */
const maxAuthority = 1_024;
/** The same with letters outside of ASCII: no name has more than 253 octets. */
const maxInternational = 253;

/**
 * Whether a text is too long to be read as an authority or as a host. The conversion of an
 * internationalised name takes a time that grows with the square of its length, some 40 ms for 4,500
 * letters, so that it must not begin.
 */
export function isLongAuthority(text: string): boolean {
  if (text.length <= maxInternational) return false;
  return text.length > maxAuthority || /[^\0-\x7f]/.test(text);
}

/**
 * The authority of a URL or of a reference to one as the URL standard finds it, before anything is
 * parsed: its user information, host and port; '' for a path, which has none.
 */
export function authorityOf(reference: string): string {
  // The standard ignores these characters, and reads a backslash as a slash.
  const text = reference.replace(/^[\0-\x20]+|[\t\n\r]/g, '');
  return /^(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(text)?.[1] ?? '';
}

/**
 * The form in which host names are stored and compared: lower-case ASCII (internationalised names
 * converted, UTS #46), no trailing dot; IP addresses in their canonical form, IPv6 in brackets.
 * Null when the text is not a bare host name: it has a port, scheme, path, userinfo or empty label, or
 * it is too long for one.
 */
export function canonicalHost(text: string): string | null {
  if (isLongAuthority(text)) return null;
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
 * An allowlist entry in canonical form: a host, or `*.example.com`, which matches one or more
 * labels in place of the `*`. Null when the text is neither.
 */
export function canonicalHostPattern(text: string): string | null {
  if (!text.startsWith('*.')) return canonicalHost(text);
  const host = canonicalHost(text.slice(2));
  return host === null || host.startsWith('[') || isIP(host) !== 0 ? null : `*.${host}`;
}

/** What every canonical pattern matches, as a regular expression of any language (ECMA-262 to RE2). */
export const canonicalHostPatternSource = `^(?:(?:\\*\\.)?${labelSource}(?:\\.${labelSource})*|\\[[0-9a-f:]+\\])$`;

/** What every text matches that `canonicalHostPattern` accepts, likewise. */
export const hostTextSource = '^(?:[^\\s/\\\\:@?#\\[\\]%]+|\\[[0-9A-Fa-f:.]+\\])$';

/** Whether a canonical host matches one of the canonical patterns. */
export function hostMatches(patterns: readonly string[], host: string): boolean {
  return patterns.some((entry) =>
    entry.startsWith('*.')
      ? host.length > entry.length - 1 && host.endsWith(entry.slice(1))
      : host === entry,
  );
}
