import type { OriginHeaders } from '../../contract/origin-headers.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { ProjectOrigin } from '../../store/project-origin.ts';

/** What the encryption is bound to: an origin that is copied to another project or host cannot be decrypted. */
const contextOf = (projectId: string, host: string): string => `origin\n${projectId}\n${host}`;

/** An origin of a project in the form of the store. */
export function sealOrigin(
  keyring: Keyring,
  projectId: string,
  host: string,
  headers: OriginHeaders,
): ProjectOrigin {
  return {
    host,
    headers: Object.keys(headers).sort(),
    sealed: keyring.seal(JSON.stringify({ headers }), contextOf(projectId, host)),
    updatedAt: new Date(),
  };
}

/** The headers of an origin; null when it cannot be decrypted. */
export function openOrigin(
  keyring: Keyring,
  projectId: string,
  { host, sealed }: ProjectOrigin,
): OriginHeaders | null {
  const text = keyring.open(sealed, contextOf(projectId, host));
  // The encryption proves that this service wrote it.
  return text === null ? null : JSON.parse(text).headers;
}
