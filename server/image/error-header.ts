import type { ServiceError } from '../../contract/errors.ts';
import type { Headers } from '../http/request.ts';
import { embeddableAnywhere } from '../http/responses.ts';

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
  ['access-control-expose-headers', 'x-image-error, x-request-id, retry-after'],
  ['x-image-error', `${code}; message=${structuredString(message)}`],
];
