import type { Headers, HttpResponse } from './request.ts';

/** The headers of JSON that must not be cached. */
export const jsonHeaders: Headers = [
  ['content-type', 'application/json'],
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
