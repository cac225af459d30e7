import type { ServiceError } from '../../contract/errors.ts';
import type { CacheResult } from '../../pool/engine.ts';
import type { HttpRequest } from '../http/request.ts';
import type { ProjectState } from '../project-cache.ts';
import type { Subject } from '../usage/activity/subject.ts';
import { documentResponse } from './by-size.ts';
import { cachingHeaders, isConstant, notStored } from './caching.ts';
import {
  backgroundResponse,
  type Conditions,
  currentHeaders,
  imageHeaders,
  imageResponse,
  repeatedHeaders,
  send,
  type UrlHeaders,
} from './response.ts';
import type { ResponseCache } from './response-cache.ts';
import { fallbackHeaders } from './source-errors.ts';
import type { UrlDocument } from './urls/grammar.ts';

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
  // A font with the missing glyphs might be added soon.
  const isStored = complete && image.warnings?.includes('text_missing_glyphs') !== true;
  const report = result.freshness;
  const lifetime = { expires, freshness, report };
  const caching = isStored ? cachingHeaders(lifetime, result, now) : notStored;
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
  if (entry === null || !isStored || result.isProvisional) return bytes;
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
