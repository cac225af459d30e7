import { ServiceError } from '../../contract/errors.ts';
import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { maxSourceLength, readSource } from '../image/source-url.ts';

/** The rules for hosts and URLs, for error messages. */
export const bareHostRule = 'must be a bare host name, without scheme, port or path';
export const maxUrlLength = maxSourceLength;
export const urlRule =
  'must be an absolute http or https URL without userinfo, with a host of at most 1024 and in all of at most 8192 characters';

/** A host in the canonical form of allowlists, or the rule that it breaks. */
export function readAllowedHost(
  text: string,
  guard: AddressGuard,
): { readonly host: string } | { readonly error: string } {
  const host = canonicalHostPattern(text);
  if (host === null) return { error: bareHostRule };
  if (!guard.allowsHost(host.replace(/^\*\./, ''))) {
    return { error: 'must be a public host name, or one that SERVICE_PRIVATE_SOURCES names' };
  }
  return { host };
}

/** A URL without its fragment; null when it breaks `urlRule`. */
export function readUrl(text: string): URL | null {
  try {
    return readSource(text);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/**
 * The rule that a URL on a private host breaks, with the setting that allows the host; else null. Checks
 * only the URL, without a DNS look-up.
 */
export function privateHostError(url: URL, guard: AddressGuard): string | null {
  try {
    guard.check(url);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const reason = guard.allowsHost(url.hostname)
      ? error.message.replace(/\.$/, '')
      : `${url.hostname} is not; an operator can name ${url.host} in SERVICE_PRIVATE_SOURCES`;
    return `must be on a public host: ${reason}`;
  }
}
