import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { plainVariant, type Variant } from '../../pool/variant.ts';
import type { Headers } from '../http/request.ts';
import type { ImageAddress } from './address.ts';

/**
 * The errors of a source for which the fallback is delivered. Errors of the request must be visible, and
 * a source or service that is overloaded must not get more work.
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

/** A variant for another source: without the crop, page and focal point of the first one. */
export function withoutSourceArea(variant: Variant): Variant {
  const { position } = variant;
  const isPoint = typeof position === 'object';
  return {
    ...variant,
    crop: null,
    page: null,
    position: isPoint ? plainVariant.position : position,
  };
}

/** The error of a request whose source and fallback both failed. */
export function combinedError(sourceError: ServiceError, fallbackError: unknown): unknown {
  const isOfSource =
    fallbackError instanceof ServiceError && fallbackError.code.startsWith('source_');
  if (!isOfSource) return fallbackError;
  const { code, details } = sourceError;
  const message = `${sourceError.message} The fallback cannot be used either. ${fallbackError.message}`;
  return new ServiceError(code, message, sourceError, details);
}

/** Headers that would let a client mix up the fallback's image and the source's. */
const sourceHeaders: ReadonlySet<string> = new Set(['etag', 'accept-ranges']);

/** The headers of a fallback that replaces an image with this error. */
export function fallbackHeaders(headers: Headers, { code }: ServiceError): Headers {
  return [...headers.filter(([name]) => !sourceHeaders.has(name)), ['x-fallback', code]];
}

/** The errors of a source that may be due to a query that the origin has not received. */
const lostQueryErrors: ReadonlySet<ErrorCode> = new Set([
  'source_unauthorized',
  'source_forbidden',
  'source_not_found',
  'source_unsupported',
  'source_unreachable',
]);

/** The most names in a message, and the most characters of each. */
const maxNames = 5;
const maxNameLength = 40;

const written = (name: string): string =>
  `\`${name.slice(0, maxNameLength).replace(/[^\w.:[\]-]/g, '?')}\``;

/**
 * The error of a source whose URL was not encoded, so that its query was read as that of the image. It names the
 * parameters that no image has, without their values, which may be secrets.
 */
export function withLostQuery(error: unknown, address: ImageAddress): unknown {
  const { isEncoded, unknown } = address;
  if (isEncoded || unknown.length === 0) return error;
  if (!(error instanceof ServiceError) || !lostQueryErrors.has(error.code)) return error;
  // The error of a layer is not about the source.
  if (error.details.layer !== undefined) return error;
  const names = unknown.slice(0, maxNames).map(written);
  const others = unknown.length > maxNames ? [`${unknown.length - maxNames} more`] : [];
  const lost = [...names, ...others].join(', ');
  const message = `${error.message} The source was requested without ${lost}; encode the source URL.`;
  return new ServiceError(error.code, message, error.cause, error.details);
}
