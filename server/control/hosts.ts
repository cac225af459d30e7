import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';

/** The rule for hosts, as error messages state it. */
export const bareHostRule = 'must be a bare host name, without scheme, port or path';

/**
 * A host in the form that allowlists have, or the fault of the text. Used by the control plane and the
 * admin command.
 */
export function readAllowedHost(
  text: string,
  guard: AddressGuard,
): { readonly host: string } | { readonly fault: string } {
  const host = canonicalHostPattern(text);
  if (host === null) return { fault: bareHostRule };
  if (!guard.allowsHost(host.replace(/^\*\./, ''))) {
    return { fault: 'must be a public host name, or one that SERVICE_PRIVATE_SOURCES names' };
  }
  return { host };
}
