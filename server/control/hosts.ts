import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';

/** What a host has to be, in words. */
export const bareHostRule = 'must be a bare host name, without scheme, port or path';

/**
 * A host as an allowlist holds it, or what is wrong with it. Used wherever hosts come in: the
 * control plane and the administrator's command.
 */
export function readAllowedHost(
  text: string,
  guard: AddressGuard,
): { readonly host: string } | { readonly fault: string } {
  const host = canonicalHostPattern(text);
  if (host === null) return { fault: bareHostRule };
  if (!guard.allowsHost(host.replace(/^\*\./, ''))) {
    return { fault: 'must be a public host name' };
  }
  return { host };
}
