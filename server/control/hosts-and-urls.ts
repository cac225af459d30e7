import { isIP } from 'node:net';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, canonicalHostPattern } from '../../contract/hosts.ts';
import { likelyUrl } from '../../contract/url-text.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { Project } from '../../store/projects.ts';
import { parseSource } from '../image/source-url.ts';
import { excerpt } from './validation-messages.ts';

/** Explains why a text is not a bare host name, suggesting the host that it probably means. */
export function bareHostError(text: string): string {
  const likely = likelyUrl(text) ?? text;
  const host = URL.canParse(likely) ? readHostPattern(new URL(likely).hostname) : null;
  const wildcard = '; a wildcard allows all subdomains of a host: *.example.com';
  const suggestion = host === null ? '' : ` (did you mean ${host}?)`;
  const hint = text.includes('*') ? wildcard : suggestion;
  return `must be a bare host name, without scheme, port or path, but is "${excerpt(text)}"${hint}`;
}

/** The rule for URLs, for error messages. */
export const urlRule =
  'must be an absolute http or https URL without userinfo, with at most 253 characters in the host and 8192 in all';

/** Returns a host in the allowlists' canonical form, or null if it is not a bare host name. */
export function readHostPattern(text: string): string | null {
  const host = canonicalHostPattern(text);
  // Excludes other forms of addresses, such as 0x7f.1.
  return host !== null && isIP(host) !== 0 && host !== text ? null : host;
}

/** Returns a host in the allowlists' canonical form, or the broken rule. */
export function readAllowedHost(
  text: string,
  guard: AddressGuard,
): { readonly host: string } | { readonly error: string } {
  const host = readHostPattern(text);
  if (host === null) return { error: bareHostError(text) };
  if (!guard.allowsHost(host.replace(/^\*\./, ''))) {
    return { error: 'must be a public host name, or one that SERVICE_PRIVATE_SOURCES names' };
  }
  return { host };
}

/** Returns a URL without its fragment, or null if it breaks `urlRule`. */
export function readUrl(text: string): URL | null {
  const url = parseSource(text);
  return typeof url === 'string' || canonicalHost(url.hostname) === null ? null : url;
}

/**
 * Returns the URL of a source, which can be a path on a project's site, or null if it breaks
 * `urlRule`.
 */
export function readSourceUrl(text: string, { origin }: Pick<Project, 'origin'>): URL | null {
  const isPath = text.startsWith('/') && URL.canParse(text, origin);
  return readUrl(isPath ? new URL(text, origin).href : text);
}

/**
 * Returns the rule that a URL on a private host breaks, naming the setting that allows the host, or
 * null. Checks only the URL, without a DNS look-up.
 */
export function privateHostError(url: URL, guard: AddressGuard): string | null {
  try {
    guard.check(url);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return guard.allowsHost(url.hostname)
      ? `cannot be used: ${error.message.replace(/\.$/, '')}`
      : `must be on a public host: ${url.hostname} is not; an operator can name ${url.host} in SERVICE_PRIVATE_SOURCES`;
  }
}
