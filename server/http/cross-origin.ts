import type { Headers, HttpResponse } from './request.ts';

/** Lets scripts of any page read the response (Fetch standard, CORS protocol). */
export const readableAnywhere: Headers = [['access-control-allow-origin', '*']];

/** Lets any page embed the response too, also one that isolates itself from other origins. */
export const embeddableAnywhere: Headers = [
  ...readableAnywhere,
  ['cross-origin-resource-policy', 'cross-origin'],
];

/** A response with more headers. */
export function withHeaders(response: HttpResponse, more: Headers): HttpResponse {
  return { ...response, headers: [...response.headers, ...more] };
}
