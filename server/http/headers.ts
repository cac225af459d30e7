import type { Headers, HttpResponse } from './request.ts';

/** Headers of an uncacheable response, which is complete if it has no body. */
export const uncachedHeaders: Headers = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** Headers of uncacheable JSON. */
export const jsonHeaders: Headers = [['content-type', 'application/json'], ...uncachedHeaders];

/** Lets scripts of any page read the response (Fetch standard, CORS protocol). */
export const readableAnywhere: Headers = [['access-control-allow-origin', '*']];

/** Lets any page also embed the response, even with cross-origin isolation. */
export const embeddableAnywhere: Headers = [
  ...readableAnywhere,
  ['cross-origin-resource-policy', 'cross-origin'],
];

/** Returns a copy of a response with additional headers. */
export function withHeaders(response: HttpResponse, more: Headers): HttpResponse {
  return { ...response, headers: [...response.headers, ...more] };
}

/**
 * A field value (RFC 9110, 5.5). Excludes bytes above ASCII, which the two HTTP servers write
 * differently.
 */
const valuePattern = /^[\t\x20-\x7e]*$/;

/**
 * Checks every response before a server writes it: a line break in a value would start another
 * header.
 * @throws Error
 */
export function checkHeaders(headers: Headers): void {
  // Lists are checked before they are encoded.
  if (encodings.has(headers)) return;
  for (const [name, value] of headers) {
    if (!valuePattern.test(value)) throw new Error(`the value of ${name} cannot be a header`);
  }
}

/** Encoded headers. A changed copy of a list is another key, so it has no entry. */
const encodings = new WeakMap<Headers, Uint8Array>();

/** Encodes headers for many responses, which then send them without more conversions. */
export function encodeHeaders(headers: Headers): Headers {
  checkHeaders(headers);
  const [first, ...rest] = headers;
  const further = rest.map(([name, value]) => `\r\n${name}: ${value}`);
  encodings.set(headers, Buffer.from([first?.[1], ...further].join('')));
  return headers;
}

/**
 * Returns the first header's value and the other headers as bytes of a head (RFC 9112, 5), or
 * undefined if the list is not encoded.
 */
export const getEncoded = (headers: Headers): Uint8Array | undefined => encodings.get(headers);
