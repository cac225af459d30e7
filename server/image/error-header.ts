import type { ServiceError } from '../../contract/errors.ts';
import { embeddableAnywhere } from '../http/headers.ts';
import type { Headers } from '../http/request.ts';

/** Maximum length of the message, in characters: proxies limit the headers of a response, often to 4 KiB. */
const maxMessage = 500;

/** A string of RFC 9651, 3.3.3, which has only visible ASCII characters and spaces. */
function structuredString(text: string): string {
  const shortened = text.length > maxMessage ? `${text.slice(0, maxMessage - 3)}...` : text;
  return `"${shortened.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * The headers of an error of the image endpoint. Browsers show neither the body nor the status of an error for an
 * image of another origin (Opaque Response Blocking), but developer tools show its headers, and scripts can read the
 * exposed ones.
 */
export const imageErrorHeaders = ({ code, message }: ServiceError): Headers => [
  ...embeddableAnywhere,
  ['access-control-expose-headers', 'x-image-error, x-request-id, retry-after'],
  ['x-image-error', `${code}; message=${structuredString(message)}`],
];
