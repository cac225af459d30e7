import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** RFC 1035: 63 octets a label, 253 in all; the underscore is not a host's, but names carry it. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * A bare host name as it is stored and compared: lower-case ASCII (internationalised names
 * converted, UTS #46), no trailing dot; IP addresses in their canonical form, IPv6 in brackets.
 * Null when it is not a bare host name: a port, scheme, path, userinfo or an empty label.
 */
export function normaliseHost(text: string): string | null {
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
 * An entry of an allowlist: a host name, or `*.example.com` for one or more labels below it.
 * Null when it is neither.
 */
export function normaliseAllowedHost(text: string): string | null {
  if (!text.startsWith('*.')) return normaliseHost(text);
  const host = normaliseHost(text.slice(2));
  return host === null || host.startsWith('[') || isIP(host) !== 0 ? null : `*.${host}`;
}

/** Whether a text is a CIDR, an IP address, or an entry as an allowlist may have. */
export function isNetworkOrHost(text: string): boolean {
  const [base = '', bits, more] = text.split('/');
  const version = isIP(base);
  if (bits === undefined) return version !== 0 || normaliseAllowedHost(base) !== null;
  if (version === 0 || more !== undefined || !/^\d{1,3}$/.test(bits)) return false;
  // An IPv4-mapped base stands for IPv4, to which its prefix length does not apply.
  if (version === 6 && normaliseHost(`[${base}]`)?.startsWith('[::ffff:') !== false) return false;
  return Number(bits) <= (version === 4 ? 32 : 128);
}

/** Whether a normalised host is on an allowlist of normalised entries. */
export function hostIsAllowed(allowlist: readonly string[], host: string): boolean {
  return allowlist.some((entry) =>
    entry.startsWith('*.')
      ? host.length > entry.length - 1 && host.endsWith(entry.slice(1))
      : host === entry,
  );
}
