import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { entityTag } from '../../pool/image.ts';
import { changedFields, plainVariant, type Variant } from '../../pool/variant.ts';
import type { ErrorHeaders } from '../http/request.ts';
import { embeddableAnywhere, type Headers } from '../http/responses.ts';
import type { ImageAddress } from './address.ts';

/**
 * Source errors that the fallback can replace. Request errors must stay visible, and an overloaded
 * source or service must not get more work.
 */
const replaceable: ReadonlySet<ErrorCode> = new Set([
  'source_unauthorized',
  'source_forbidden',
  'source_not_found',
  'source_too_large',
  'source_unsupported',
  'source_corrupt',
  'source_unreachable',
  'source_timeout',
]);

export const isReplaceable = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && replaceable.has(error.code);

/**
 * Returns the variant for another source, without the first source's crop, page and focal point.
 */
export function withoutSourceArea(variant: Variant): Variant {
  const fields = changedFields(variant, 'page', 'area');
  const all = typeof variant.position === 'object' ? [...fields, 'position' as const] : fields;
  return { ...variant, ...Object.fromEntries(all.map((field) => [field, plainVariant[field]])) };
}

export function combinedError(sourceError: ServiceError, fallbackError: unknown): unknown {
  const isOfSource =
    fallbackError instanceof ServiceError && fallbackError.code.startsWith('source_');
  if (!isOfSource) return fallbackError;
  const { code, details } = sourceError;
  const message = `${sourceError.message} The fallback cannot be used either. ${fallbackError.message}`;
  return new ServiceError(code, message, sourceError, details);
}

/** Source errors that a query which did not reach the origin can cause. */
const lostQueryErrors: ReadonlySet<ErrorCode> = new Set([
  'source_unauthorized',
  'source_forbidden',
  'source_not_found',
  'source_unsupported',
  'source_unreachable',
]);

/** Maximum names in a message, and maximum characters per name. */
const maxNames = 5;
const maxNameLength = 40;

const written = (name: string): string =>
  `\`${name.slice(0, maxNameLength).replace(/[^\w.:[\]-]/g, '?')}\``;

/**
 * Explains the error of an unencoded source: its query was read as the image's query. Names the
 * parameters that are not image parameters, but not their values, which might be secrets.
 */
export function withLostQuery(error: unknown, address: ImageAddress): unknown {
  const { isEncoded, unknown } = address;
  if (isEncoded || unknown.length === 0) return error;
  if (!(error instanceof ServiceError) || !lostQueryErrors.has(error.code)) return error;
  // A layer's error is not about the source.
  if (error.details.layer !== undefined) return error;
  const names = unknown.slice(0, maxNames).map(written);
  const others = unknown.length > maxNames ? [`${unknown.length - maxNames} more`] : [];
  const lost = [...names, ...others].join(', ');
  const message = `${error.message} The source was requested without ${lost}; encode the source URL.`;
  return new ServiceError(error.code, message, error.cause, error.details);
}

/** Maximum message length, in characters: proxies limit response headers, often to 4 KiB. */
const maxMessage = 500;

/** Returns an RFC 9651 string (3.3.3), which allows only visible ASCII characters and spaces. */
function structuredString(text: string): string {
  const shortened = text.length > maxMessage ? `${text.slice(0, maxMessage - 3)}...` : text;
  return `"${shortened.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Returns the error headers of the image endpoint. For images from another origin, browsers hide an
 * error's body and status (Opaque Response Blocking), but developer tools show its headers, and
 * scripts can read exposed headers.
 */
export const imageErrorHeaders = ({ code, message }: ServiceError): Headers => [
  ...embeddableAnywhere,
  ['x-image-error', `${code}; message=${structuredString(message)}`],
];

/**
 * Returns error headers that also let caches keep the error of a missing source for a while. A
 * browser's navigation gets a page in place of the JSON.
 *
 * @param caching for the error of a missing source
 */
export const withMissing =
  (others: ErrorHeaders | null, caching: Headers): ErrorHeaders =>
  (error, response) => {
    const headers = others?.(error, response) ?? [];
    const isMissing = error.code === 'source_not_found' && error.details.layer === undefined;
    if (!isMissing) return headers;
    const etag = entityTag(Buffer.from(response.body ?? ''));
    return [...headers, ...caching, ['vary', 'Accept'], ['etag', etag]];
  };
