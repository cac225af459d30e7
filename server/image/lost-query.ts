import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import type { ImageAddress } from './address.ts';

/** The errors of a source that may be due to a query that the origin has not received. */
const possible: ReadonlySet<ErrorCode> = new Set([
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
  if (!(error instanceof ServiceError) || !possible.has(error.code)) return error;
  // The error of a layer is not about the source.
  if (error.details.layer !== undefined) return error;
  const names = unknown.slice(0, maxNames).map(written);
  const others = unknown.length > maxNames ? [`${unknown.length - maxNames} more`] : [];
  const lost = [...names, ...others].join(', ');
  const message = `${error.message} The source was requested without ${lost}; encode the source URL.`;
  return new ServiceError(error.code, message, error.cause, error.details);
}
