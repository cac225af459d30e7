import type { CacheResult } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import { embeddableAnywhere, withHeaders } from '../http/cross-origin.ts';
import { errorResponse } from '../http/error-response.ts';
import { RangeNotSatisfiable } from '../http/range-not-satisfiable.ts';
import type { Headers, HttpRequest, HttpResponse } from '../http/request.ts';
import { attachment } from './download.ts';
import { ifRangeMatches, readRange } from './range.ts';

/** Spec 4.3, rule 3: another image has another URL. */
const immutable = 'public, max-age=31536000, immutable';
const maxAgeSeconds = 31_536_000;

/**
 * The Cache-Control header of an image.
 *
 * @param expires when the URL expires, Unix ms: infinite for a project without signed URLs, and null for
 *   a worker's request, which needs no signature even for projects that require one, so that a CDN
 *   between the worker and the service must not store the response for other clients
 * @param now Unix ms
 */
export function cacheControl(expires: number | null, now: number): string {
  if (expires === null) return 'private, no-store';
  if (expires === Number.POSITIVE_INFINITY) return immutable;
  const seconds = Math.min(Math.max(0, Math.floor((expires - now) / 1_000)), maxAgeSeconds);
  return `public, max-age=${seconds}`;
}

/** The other headers of every image (spec 4.3, rule 3), also those that let any page embed it. */
const constantHeaders: Headers = [
  ['accept-ch', 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width'],
  ['vary', 'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width'],
  ['accept-ranges', 'bytes'],
  ['x-content-type-options', 'nosniff'],
  ...embeddableAnywhere,
];

const ofBody: ReadonlySet<string> = new Set([
  'content-type',
  'content-disposition',
  'accept-ranges',
]);
/** RFC 9110, 15.4.5: a 304 has the headers that a 200 would have, except those of the body. */
const withoutBody = (headers: Headers): Headers => headers.filter(([name]) => !ofBody.has(name));

/** Server-Timing metrics (W3C), durations in ms. */
function serverTiming({ tier, timings }: Pick<CacheResult, 'tier' | 'timings'>): string {
  const durations = Object.entries(timings).map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`);
  return [`cache;desc=${tier}`, ...durations].join(', ');
}

/**
 * The headers of an image response.
 *
 * @param cacheControl see the function of that name
 * @param download the name under which clients are to save the image; null for none
 */
export function imageHeaders(
  image: Pick<Image, 'contentType' | 'etag'>,
  origin: Pick<CacheResult, 'tier' | 'timings'>,
  cacheControl: string,
  download: string | null = null,
): Headers {
  return [
    ['content-type', image.contentType],
    ['etag', image.etag],
    ['cache-control', cacheControl],
    ...(download === null
      ? []
      : [['content-disposition', attachment(download, image.contentType)] as const]),
    ...constantHeaders,
    ['x-cache', origin.tier],
    ['server-timing', serverTiming(origin)],
  ];
}

/** More images than a client has under one URL. */
const maxTags = 100;

/** Whether If-None-Match names an entity tag (RFC 9110, 13.1.2: weak comparison, lists, `*`). */
export function isNotModified(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',', maxTags).some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/**
 * The response to a worker, for which the image was put into the caches: 204, as there is no image of
 * no bytes (RFC 9110, 15.3.5). A cache in between that keeps it all the same has no image to give away.
 */
export function warmResponse(headers: Headers): HttpResponse {
  return { status: 204, headers: withoutBody(headers), body: null };
}

/** The headers that make a request conditional or partial; empty when it does not have them. */
export interface Conditions {
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
}

/** The conditions of a request, copied because the request is invalid after an await. */
export function readConditions(request: HttpRequest): Conditions {
  // RFC 9110, 14.2: ranges are defined only for GET.
  const range = request.method === 'GET' ? request.header('range') : '';
  return {
    ifNoneMatch: request.header('if-none-match'),
    range,
    ifRange: range === '' ? '' : request.header('if-range'),
  };
}

/**
 * The response with an image, by the order of RFC 9110, 13.2.2: 304 when the client has it, 206 with the
 * part that it asks for or 416 when there is none, else 200 with the whole body.
 */
export function imageResponse(
  image: Image,
  headers: Headers,
  { ifNoneMatch, range, ifRange }: Conditions,
): HttpResponse {
  const { body, etag } = image;
  if (isNotModified(ifNoneMatch, etag)) {
    return { status: 304, headers: withoutBody(headers), body: null };
  }
  const part =
    range !== '' && ifRangeMatches(ifRange, etag) ? readRange(range, body.byteLength) : null;
  if (part === null) return { status: 200, headers, body };
  if (part instanceof RangeNotSatisfiable) {
    return withHeaders(errorResponse(part), embeddableAnywhere);
  }
  const { first, last } = part;
  return {
    status: 206,
    headers: [...headers, ['content-range', `bytes ${first}-${last}/${body.byteLength}`]],
    body: body.subarray(first, last + 1),
  };
}
