import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { plainVariant, type Variant } from '../../pool/variant.ts';
import type { Headers } from '../http/request.ts';

/**
 * The errors of a source in whose place another one may be used. No others: those of the request are to
 * be seen, and a source that is limited, or a service with too much to do, must not get more of it.
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

/** A variant for another source, without what is about places in the first one. */
export function ofAnotherSource(variant: Variant): Variant {
  const { position } = variant;
  const placed = typeof position === 'object' ? plainVariant.position : position;
  return { ...variant, crop: null, page: null, position: placed };
}

/** The error of a request whose fallback failed too. */
export function bothFailed(first: ServiceError, second: unknown): unknown {
  const itsOwn = second instanceof ServiceError && second.code.startsWith('source_');
  if (!itsOwn) return second;
  const message = `${first.message} The fallback cannot be used either. ${second.message}`;
  return new ServiceError(first.code, message, first, first.details);
}

/** Of the image of the URL's own source: those of another image would let the two be mixed up. */
const ofOwnImage: ReadonlySet<string> = new Set(['etag', 'accept-ranges']);

/** The headers of an image that takes the place of one that failed with an error. */
export function fallbackHeaders(headers: Headers, { code }: ServiceError): Headers {
  return [...headers.filter(([name]) => !ofOwnImage.has(name)), ['x-fallback', code]];
}
