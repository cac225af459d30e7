import { timingSafeEqual } from 'node:crypto';
import { cloudflare } from './cloudflare.ts';
import { cloudinary } from './cloudinary.ts';
import { iiif } from './iiif.ts';
import { imgix } from './imgix.ts';
import { imgproxy } from './imgproxy/imgproxy.ts';
import { next } from './next.ts';
import { hasTooManyParameters, lookUp, maxParameters, parseQuery } from './read.ts';
import { thumbor } from './thumbor.ts';
import type { Translation, UrlDialect, UrlHost, UrlSecret } from './translation.ts';

export { expiryFault, withBothSlashes } from './read.ts';
export type * from './translation.ts';
export { UrlError } from './translation.ts';
export { hasTooManyParameters, maxParameters };

/** The URL languages by the name of their service. */
export const dialects = {
  cloudflare,
  cloudinary,
  iiif,
  imgix,
  imgproxy,
  next,
  thumbor,
} as const satisfies Readonly<Record<string, UrlDialect>>;

export type DialectName = keyof typeof dialects;

/** Returns the language whose usual form an absolute URL, or a path and query, has. */
export function recogniseDialect(url: string): DialectName | null {
  // The source of a native URL can be another service's URL.
  if (/^(?:https?:\/\/[^/?#]+)?\/img\//i.test(url)) return null;
  const names = Object.keys(dialects) as DialectName[];
  return names.find((name) => dialects[name].form.test(url)) ?? null;
}

/** The services that sign URLs, and whether a secret is a key and a salt in hexadecimal digits. */
export const urlSecretKinds = {
  imgix: { isKeyWithSalt: false },
  cloudinary: { isKeyWithSalt: false },
  imgproxy: { isKeyWithSalt: true },
  thumbor: { isKeyWithSalt: false },
} as const satisfies Partial<Record<DialectName, unknown>>;

export type UrlSecretKind = keyof typeof urlSecretKinds;

/**
 * Translates another service's URL.
 * @param path as sent, from the first slash on
 * @param query from after the question mark on
 * @throws UrlError
 */
export function translate(
  name: DialectName,
  path: string,
  query: string,
  host: UrlHost,
): Translation {
  // Some languages leave the query to the source.
  parseQuery(query);
  return dialects[name].translate(path, query, host);
}

/** Returns a path without its possible secrets. @param name of a language, or another text */
export const redactForeignPath = (path: string, name: string): string =>
  lookUp<UrlDialect>(dialects, name)?.redact?.(path) ?? path;

/** Compares two texts in a time that depends only on their lengths. */
export function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length > 0 && left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Checks the signature in another service's URL.
 * @returns null for an unsigned URL
 */
export function isAuthentic(
  name: DialectName,
  path: string,
  query: string,
  secrets: readonly UrlSecret[],
): boolean | null {
  const { readSignature }: UrlDialect = dialects[name];
  const signature = readSignature?.(path, query) ?? null;
  if (signature === null) return null;
  const expected = secrets.flatMap((secret) => signature.expected(secret));
  return expected.some((text) => isSame(signature.text, text));
}
