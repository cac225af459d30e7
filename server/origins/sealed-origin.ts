import type { OriginHeaders } from '../../contract/origins.ts';
import type { S3Location } from '../../contract/s3-location.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { ProjectOrigin } from '../../store/project.ts';

/** A project's origin with its secrets. */
export type ProjectTarget =
  | { readonly kind: 'headers'; readonly headers: OriginHeaders }
  | {
      readonly kind: 's3';
      readonly location: S3Location;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
    };

/**
 * Returns the encryption context, which makes a ciphertext undecryptable if copied to another
 * project or host.
 */
const toContext = (projectId: string, host: string): string => `origin\n${projectId}\n${host}`;

/** Returns a project's origin in its stored form. */
export function sealOrigin(
  keyring: Keyring,
  projectId: string,
  host: string,
  target: ProjectTarget,
  location: string | null,
): ProjectOrigin {
  return {
    host,
    headers: target.kind === 'headers' ? Object.keys(target.headers).sort() : [],
    location,
    sealed: keyring.seal(JSON.stringify(target), toContext(projectId, host)),
    updatedAt: new Date(),
  };
}

/** Returns null if the origin cannot be decrypted. */
export function openOrigin(
  keyring: Keyring,
  projectId: string,
  { host, sealed }: ProjectOrigin,
): ProjectTarget | null {
  const text = keyring.open(sealed, toContext(projectId, host));
  // The encryption is authenticated, so a service with the key wrote this text.
  return text === null ? null : JSON.parse(text);
}
