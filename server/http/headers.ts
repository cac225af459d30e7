import type { Headers, HttpResponse } from './request.ts';

/** The headers of JSON that must not be cached. */
export const jsonHeaders: Headers = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** The headers of a response without a body that must not be cached. */
export const noContentHeaders: Headers = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** The headers of CSV with a header row (RFC 4180, 3) that must not be cached. */
export const csvHeaders: Headers = [
  ['content-type', 'text/csv; charset=utf-8; header=present'],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** Lets scripts of any page read the response (Fetch standard, CORS protocol). */
export const readableAnywhere: Headers = [['access-control-allow-origin', '*']];

/** Lets any page also embed the response, even with cross-origin isolation. */
export const embeddableAnywhere: Headers = [
  ...readableAnywhere,
  ['cross-origin-resource-policy', 'cross-origin'],
];

/** A copy of a response with additional headers. */
export function withHeaders(response: HttpResponse, more: Headers): HttpResponse {
  return { ...response, headers: [...response.headers, ...more] };
}

/** Of a field value (RFC 9110, 5.5), without bytes above ASCII, which the two HTTP servers write differently. */
const valuePattern = /^[\t\x20-\x7e]*$/;

/**
 * Every response passes this before a server writes it: a line break in a value would begin another header.
 * @throws Error
 */
export function checkHeaders(headers: Headers): void {
  // Checked before they were encoded.
  if (encodings.has(headers)) return;
  for (const [name, value] of headers) {
    if (!valuePattern.test(value)) throw new Error(`the value of ${name} cannot be a header`);
  }
}

/** The bytes of encoded headers. Changed copies of a list are other keys, and have none. */
const encodings = new WeakMap<Headers, Uint8Array>();

/** Encodes headers that many responses have, which are then sent without further conversions. */
export function encodeHeaders(headers: Headers): Headers {
  checkHeaders(headers);
  const [first, ...rest] = headers;
  const further = rest.map(([name, value]) => `\r\n${name}: ${value}`);
  encodings.set(headers, Buffer.from([first?.[1], ...further].join('')));
  return headers;
}

/**
 * The value of the first header, and the further headers, as bytes of a head (RFC 9112, 5); absent unless they were
 * encoded.
 */
export const encodingOf = (headers: Headers): Uint8Array | undefined => encodings.get(headers);
