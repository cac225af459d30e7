import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { Project } from '../../../store/project.ts';
import type { UrlGrammar } from './grammar.ts';

/**
 * Services that sign their URLs, and whether the secret consists of a key and a salt, both in
 * hexadecimal digits.
 */
export const urlSecretKinds = {
  imgix: { isKeyWithSalt: false },
  cloudinary: { isKeyWithSalt: false },
  imgproxy: { isKeyWithSalt: true },
  thumbor: { isKeyWithSalt: false },
} as const;

export type UrlSecretKind = keyof typeof urlSecretKinds;

/** The parts of a grammar that verify another service's signature. */
export interface ForeignGrammar extends Pick<UrlGrammar, 'title' | 'readSignature'> {
  /** The host's `urls` value. */
  readonly kind: string;
}

/**
 * Returns the fault of an expiry that is not a whole number of Unix seconds, or null. Dates of most
 * languages count milliseconds.
 */
export function expiryFault(name: string, text: string): string | null {
  if (/^\d{1,12}$/.test(text)) return null;
  const seconds = `${name} must be a Unix time in whole seconds, such as 1796083200`;
  return /^\d{13,16}$/.test(text) ? `${seconds}, not milliseconds.` : `${seconds}.`;
}

/** Compares two texts in a time that depends only on their lengths. */
export function isSame(given: Buffer, expected: string): boolean {
  const right = Buffer.from(expected);
  return given.length > 0 && given.length === right.length && timingSafeEqual(given, right);
}

/**
 * Checks the signature in another service's URL. Refuses wrong signatures even if the project does
 * not require signatures.
 * @param expires Unix ms; infinite if the URL does not expire
 * @returns whether the URL carries a checked signature
 * @throws ServiceError signature_invalid
 */
export function checkUrlSignature(
  { kind, title, readSignature }: ForeignGrammar,
  project: Project,
  path: string,
  query: string,
  expires: number,
  now: number,
): boolean {
  const refuse = (why: string): ServiceError => new ServiceError('signature_invalid', why);
  const signature = readSignature?.(path, query) ?? null;
  const secrets = project.urlSecrets?.[kind]?.valid ?? [];
  if (signature !== null && secrets.length > 0) {
    const given = Buffer.from(signature.text);
    const isAuthentic = secrets
      .flatMap((secret) => signature.expected(secret))
      .some((text) => isSame(given, text));
    if (!isAuthentic) throw refuse('The signature does not match the URL.');
  }
  if (expires <= now) throw refuse('The URL has expired.');
  const isSigned = signature !== null && secrets.length > 0;
  if (!project.requireSignedUrls) return isSigned;
  if (readSignature === undefined) throw refuse(`URLs of ${title} have no signature.`);
  if (secrets.length === 0) throw refuse(`The project has no secret for URLs of ${title}.`);
  if (signature === null) throw refuse('This project needs signed URLs.');
  const ttl = project.signedUrlTtlSeconds;
  if (ttl !== null && expires > now + ttl * 1_000) {
    throw refuse(`The URL must expire within ${ttl} seconds, as the project demands.`);
  }
  return isSigned;
}
