import { hash } from 'node:crypto';
import type { ServiceError } from '../../contract/errors.ts';
import type { CacheResult } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import { errorResponse, RangeNotSatisfiable } from '../http/error-response.ts';
import { embeddableAnywhere, encodeHeaders, withHeaders } from '../http/headers.ts';
import type { Headers, HttpRequest, HttpResponse } from '../http/request.ts';
import type { ProjectState } from '../project-cache.ts';
import type { Subject } from '../usage/activity/subject.ts';
import { attachment } from './attachment.ts';
import {
  cachingHeaders,
  immutable,
  isConstant,
  isTemporary,
  type Lifetime,
  notStored,
} from './caching.ts';
import { imageErrorHeaders } from './error-header.ts';
import { ifRangeMatches, readRange } from './range.ts';
import type { RepeatedHeaders, ResponseCache, UrlHeaders } from './response-cache.ts';
import { fallbackHeaders } from './source-errors.ts';
import type { UrlDocument } from './urls/grammar.ts';

/** Headers of every image. */
const constantHeaders: Headers = [
  ['accept-ch', 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width'],
  ['vary', 'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width'],
  ['accept-ranges', 'bytes'],
  ['x-content-type-options', 'nosniff'],
  ...embeddableAnywhere,
];

/**
 * Keeps a browser from running or loading anything in an SVG opened as a document, even though it
 * is sanitised.
 */
const documentHeaders: Headers = [
  ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
];

const bodyHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'content-disposition',
  'accept-ranges',
]);
/** RFC 9110, 15.4.5: a 304 repeats the headers of a 200, except those about the body. */
const withoutBody = (headers: Headers): Headers =>
  headers.filter(([name]) => !bodyHeaders.has(name));

/** Encodes an image's headers once for many requests. */
export function repeatedHeaders(headers: Headers): RepeatedHeaders {
  return { whole: encodeHeaders(headers), notModified: encodeHeaders(withoutBody(headers)) };
}

/** Lists how an image differs from the request, as one list (RFC 9651, 3.1). */
function warningHeaders(imageWarnings: Image['warnings'] = [], urlWarnings: string): Headers {
  const warnings = [...imageWarnings, ...(urlWarnings === '' ? [] : [urlWarnings])];
  return warnings.length === 0 ? [] : [['x-image-warnings', warnings.join(', ')]];
}

/** Server-Timing metrics (W3C), durations in ms. */
function serverTiming({ tier, timings = {} }: Pick<CacheResult, 'tier' | 'timings'>): string {
  const durations = Object.entries(timings).map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`);
  return [`cache;desc=${tier}`, ...durations].join(', ');
}

/** The data that a response sends: part of an image, or of a document in its place. */
export interface SentImage extends Pick<Image, 'body' | 'etag' | 'warnings'> {
  readonly contentType: string;
}

/**
 * Returns the headers of an image response.
 *
 * @param caching as from `cachingHeaders`
 */
export function imageHeaders(
  image: Omit<SentImage, 'body'>,
  result: Pick<CacheResult, 'tier' | 'timings'>,
  caching: Headers,
  { download, tags, warnings, others = [] }: UrlHeaders,
): Headers {
  return [
    ['content-type', image.contentType],
    ['etag', image.etag],
    ...caching,
    ...(download === null
      ? []
      : [['content-disposition', attachment(download, image.contentType)] as const]),
    ...constantHeaders,
    ...(image.contentType === 'image/svg+xml' ? documentHeaders : []),
    ...tags,
    ...others,
    ...warningHeaders(image.warnings, warnings),
    ['x-cache', result.tier],
    ['server-timing', serverTiming(result)],
  ];
}

/** More entity tags than a client stores per URL. */
const maxTags = 100;

/**
 * Returns whether If-None-Match names an entity tag (RFC 9110, 13.1.2: weak comparison, lists,
 * `*`).
 */
export function isNotModified(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',', maxTags).some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/**
 * Returns the response to a background request after caching its image. The status is 204 (RFC
 * 9110, 15.3.5), so that an intermediate cache that ignores Cache-Control stores no image.
 */
export function backgroundResponse(headers: Headers): HttpResponse {
  return { status: 204, headers: withoutBody(headers), body: null };
}

/** Conditional and range headers, or '' for each unsent header. */
export interface Conditions {
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
}

export function readConditions(request: HttpRequest): Conditions {
  // RFC 9110, 14.2 defines ranges only for GET.
  const range = request.method === 'GET' ? request.header('range') : '';
  return {
    ifNoneMatch: request.header('if-none-match'),
    range,
    ifRange: range === '' ? '' : request.header('if-range'),
  };
}

/**
 * Returns an image response, in the order of RFC 9110, 13.2.2: 304 for a matching If-None-Match,
 * 206 or 416 for a range, else 200.
 * @param notModified the headers of 304, if they are encoded
 */
export function imageResponse(
  { body, etag }: SentImage,
  headers: Headers,
  { ifNoneMatch, range, ifRange }: Conditions,
  notModified?: Headers,
): HttpResponse {
  if (isNotModified(ifNoneMatch, etag)) {
    return { status: 304, headers: notModified ?? withoutBody(headers), body };
  }
  const part =
    range !== '' && ifRangeMatches(ifRange, etag) ? readRange(range, body.byteLength) : null;
  if (part === null) return { status: 200, headers, body };
  if (part instanceof RangeNotSatisfiable) {
    return withHeaders(errorResponse(part), imageErrorHeaders(part));
  }
  const { first, last } = part;
  return {
    status: 206,
    headers: [...headers, ['content-range', `bytes ${first}-${last}/${body.byteLength}`]],
    body: body.subarray(first, last + 1),
  };
}

/** Returns how many image bytes a response sends: 0 for HEAD, 304 and errors. */
export function imageBytes(method: string, { status, body }: HttpResponse): number {
  const isSent = body !== null && typeof body !== 'string' && method !== 'HEAD' && status !== 304;
  return isSent ? body.byteLength : 0;
}

/** @returns the size of the body in bytes, or 0 if the client has disconnected */
export function send(request: HttpRequest, response: HttpResponse): number {
  if (request.signal.aborted) return 0;
  request.respond(response);
  return imageBytes(request.method, response);
}

const fromMemory = { tier: 'memory' } as const;

/**
 * Returns the headers of an image in memory. They change every second if the URL is signed or the
 * image has an age.
 */
export function currentHeaders(
  image: CacheResult['image'],
  lifetime: Lifetime,
  urlHeaders: UrlHeaders,
  now: number,
): Headers {
  return imageHeaders(image, fromMemory, cachingHeaders(lifetime, fromMemory, now), urlHeaders);
}

/** A later release can describe an image in another way. */
const documentCaching = 'public, max-age=3600';

/**
 * Returns the response with a document about a source.
 * @param result of the source's facts
 * @param ofImage the caching headers that an image would get
 */
function documentResponse(
  { contentType, body }: UrlDocument,
  result: Pick<CacheResult, 'tier' | 'timings'>,
  ofImage: Headers,
  urlHeaders: UrlHeaders,
  conditions: Conditions,
): HttpResponse {
  const etag = `"${hash('sha256', contentType + body, 'base64url').slice(0, 22)}"`;
  const sent = { body: Buffer.from(body), contentType, etag };
  const caching = ofImage.map(
    ([name, value]) => [name, value === immutable ? documentCaching : value] as const,
  );
  return imageResponse(sent, imageHeaders(sent, result, caching, urlHeaders), conditions);
}

/** Redirects to another path of the host. */
export const redirectTo = (location: string): HttpResponse => ({
  status: 303,
  headers: [['location', location], ['cache-control', documentCaching], ...embeddableAnywhere],
  body: '',
});

/** The delivered image. */
export interface Delivered {
  readonly result: CacheResult;
  /**
   * False if a layer is missing, or the fallback replaces the source: do not store the response.
   */
  readonly complete: boolean;
  /** The source's error if this is the fallback's image, else null. */
  readonly sourceError: ServiceError | null;
  /** Sent instead of the image. */
  readonly document?: UrlDocument;
}

interface ResponseContext {
  readonly responses: ResponseCache;
  /** Unix ms. */
  readonly now: number;
  readonly cacheKey: string;
  readonly state: ProjectState;
  readonly subject: Subject;
  /** The URL's expiry, Unix ms: infinite if unsigned, null for background requests. */
  readonly expires: number | null;
  readonly urlHeaders: UrlHeaders;
}

/**
 * Sends the image, and caches the response for repeated requests if possible.
 * @returns the size of the body in bytes
 */
export function respond(
  request: HttpRequest,
  conditions: Conditions,
  { result, complete, sourceError, document }: Delivered,
  { responses, now, cacheKey, state, subject, expires, urlHeaders }: ResponseContext,
): number {
  const { image, entry } = result;
  const { freshness } = state.project;
  const report = result.freshness;
  const lifetime = { expires, freshness, report };
  const caching = complete ? cachingHeaders(lifetime, result, now) : notStored;
  if (document !== undefined) {
    return send(request, documentResponse(document, result, caching, urlHeaders, conditions));
  }
  const headers = imageHeaders(image, result, caching, urlHeaders);
  if (sourceError !== null) {
    return send(request, {
      status: 200,
      headers: fallbackHeaders(headers, sourceError),
      body: image.body,
    });
  }
  if (expires === null) return send(request, backgroundResponse(headers));
  const bytes = send(request, imageResponse(image, headers, conditions));
  const isRepeated = complete && !result.isProvisional && !isTemporary(image);
  if (entry === null || !isRepeated) return bytes;
  const repeated = isConstant(lifetime)
    ? repeatedHeaders(currentHeaders(image, lifetime, urlHeaders, now))
    : null;
  responses.set(cacheKey, {
    project: state,
    subject,
    entry,
    headers: repeated,
    urlHeaders,
    lifetime: { expires, freshness, report },
  });
  return bytes;
}
