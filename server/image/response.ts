import { hash } from 'node:crypto';
import { redactSource } from '../../contract/redact.ts';
import type { CacheResult } from '../../pool/engine.ts';
import { sourceExtensions } from '../../pool/formats/source-formats.ts';
import type { Image } from '../../pool/image.ts';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import type { SourceDocument } from '../../urls/src/index.ts';
import type { HttpRequest } from '../http/request.ts';
import {
  embeddableAnywhere,
  encodeHeaders,
  type Headers,
  type HttpResponse,
  isNotModified,
} from '../http/responses.ts';
import type { ProjectState } from '../project-cache.ts';
import { RequestCounter } from '../usage/request-counts.ts';
import {
  cacheTagHeaders,
  cachingHeaders,
  immutable,
  isConstant,
  isTemporary,
  missingHeaders,
  notStored,
} from './caching.ts';
import type { DeliveryEnvironment, ImageCall } from './delivery-environment.ts';
import { type NamedFile, sourceFile } from './download.ts';
import type { DeliveredImage } from './image-lookup.ts';
import { fullVary } from './negotiate.ts';
import { redactParameters } from './redact-request.ts';
import type { ResolvedTransform } from './resolve-variant.ts';
import type { CachedResponse, UrlHeaders } from './response-cache.ts';
import { percentEncode } from './source-url.ts';

const constantHeaders: Headers = [
  ['accept-ch', 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width'],
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

const bodyHeaders: ReadonlySet<string> = new Set(['content-type', 'content-disposition']);
/** RFC 9110, 15.4.5: a 304 repeats the headers of a 200, except those about the body. */
const withoutBody = (headers: Headers): Headers =>
  headers.filter(([name]) => !bodyHeaders.has(name));

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
interface SentImage extends Pick<Image, 'body' | 'etag' | 'warnings'> {
  readonly contentType: string;
}

/** File extensions by media type. A name that lacks an extension gets the first. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ...Object.fromEntries(
    Object.values(encodings).map(({ contentType, extensions }) => [contentType, extensions]),
  ),
  'text/plain': ['txt'],
  'application/json': ['json'],
};
const imageExtensions = new Set([...Object.values(extensions).flat(), ...sourceExtensions]);

/** Adds the extension of the delivered type, replacing another image type's extension. */
function withExtension(name: string, contentType: string): string {
  const own = extensions[contentType.split(';')[0] ?? ''];
  if (own === undefined) return name;
  const [, stem = name, extension = ''] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
  const written = extension.toLowerCase();
  if (own.includes(written)) return name;
  return `${imageExtensions.has(written) ? stem : name}.${own[0]}`;
}

/**
 * The Content-Disposition header (RFC 6266): the name in ASCII for old clients, and in full (RFC
 * 8187) if it differs.
 */
function contentDisposition({ disposition, name }: NamedFile, contentType: string): string {
  const full = withExtension(name, contentType);
  const ascii = full
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Some clients decode percent signs.
    .replace(/[^ -~]|[%"\\]/gu, '_');
  const extended = ascii === full ? '' : `; filename*=UTF-8''${percentEncode(full)}`;
  return `${disposition}; filename="${ascii}"${extended}`;
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
  { file, tags, vary, warnings }: UrlHeaders,
): Headers {
  return [
    ['content-type', image.contentType],
    ['etag', image.etag],
    ...caching,
    ...(file === null
      ? []
      : [['content-disposition', contentDisposition(file, image.contentType)] as const]),
    ...constantHeaders,
    ...(vary === '' ? [] : [['vary', vary] as const]),
    ...(image.contentType === 'image/svg+xml' ? documentHeaders : []),
    ...tags,
    ...warningHeaders(image.warnings, warnings),
    ['x-cache', result.tier],
    ['server-timing', serverTiming(result)],
  ];
}

/**
 * Returns the response to a background request after caching its image. The status is 204 (RFC
 * 9110, 15.3.5), so that an intermediate cache that ignores Cache-Control stores no image.
 */
export function backgroundResponse(headers: Headers): HttpResponse {
  return { status: 204, headers: withoutBody(headers), body: null };
}

/**
 * Returns an image response: 304 for a matching If-None-Match, else 200.
 * @param notModified the headers of 304, if they are encoded
 */
export function imageResponse(
  { body, etag }: SentImage,
  headers: Headers,
  ifNoneMatch: string,
  notModified?: Headers,
): HttpResponse {
  return isNotModified(ifNoneMatch, etag)
    ? { status: 304, headers: notModified ?? withoutBody(headers), body }
    : { status: 200, headers, body };
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
 * image has an age; others are encoded by the first repeated request, for all later ones.
 */
export function repeatedHeaders(cached: CachedResponse, image: Image, now: number) {
  if (cached.headers !== null) return cached.headers;
  const { lifetime, urlHeaders } = cached;
  const caching = cachingHeaders(lifetime, fromMemory, now);
  const whole = imageHeaders(image, fromMemory, caching, urlHeaders);
  const headers = { whole, notModified: withoutBody(whole) };
  if (!isConstant(lifetime)) return headers;
  const encoded = { whole: encodeHeaders(whole), notModified: encodeHeaders(headers.notModified) };
  cached.headers = encoded;
  return encoded;
}

/** A later release can describe an image in another way. */
const documentCaching = 'public, max-age=3600';

export const redirectTo = (location: string): HttpResponse => ({
  status: 303,
  headers: [['location', location], ['cache-control', documentCaching], ...embeddableAnywhere],
  body: '',
});

/** The parts of a response that its URL determines. */
interface RequestedResponse extends Pick<ResolvedTransform, 'parameters' | 'file' | 'vary'> {
  /** A document to send in place of the image. */
  readonly document?: SourceDocument;
}

interface ResponseContext extends ImageCall {
  readonly state: ProjectState;
  readonly source: URL;
  /** Whether the URL would pass if the project required signatures. */
  readonly isSigned: boolean;
  /** The URL's expiry, Unix ms: infinite if unsigned, null for background requests. */
  readonly expires: number | null;
  /** The result of `unknownWarnings`. */
  readonly warnings: string;
}

function toSentDocument({ contentType, body }: SourceDocument): SentImage {
  const etag = `"${hash('sha256', contentType + body, 'base64url').slice(0, 22)}"`;
  return { body: Buffer.from(body), contentType, etag };
}

/**
 * Sends an image, or a document about its source, and caches the response for repeated requests if
 * possible.
 */
export function respond(
  { result, inputs, complete, sourceError }: DeliveredImage,
  { parameters, file, vary: needed, document }: RequestedResponse,
  environment: Pick<DeliveryEnvironment, 'cacheTagHeaders' | 'vary' | 'missingAgeSeconds' | 'now'>,
  context: ResponseContext,
): void {
  const { request, observed, ifNoneMatch, state, source, isSigned, expires, warnings } = context;
  const { image, entry } = result;
  observed.delivered(result.tier);
  const { _id: project, freshness } = state.project;
  const variant = redactParameters(parameters);
  const subject = new RequestCounter(
    { project, source: redactSource(source), variant, isSigned },
    image,
  );
  const tags = cacheTagHeaders(environment.cacheTagHeaders, project, inputs);
  const vary = environment.vary === 'needed' ? needed : fullVary;
  const sent = document === undefined ? image : toSentDocument(document);
  const isImage = sent.contentType.startsWith('image/');
  const urlHeaders = { file: file ?? (isImage ? sourceFile(source) : null), tags, vary, warnings };
  const lifetime = { expires, freshness, report: result.freshness };
  const at = environment.now();
  const ofImage = complete ? cachingHeaders(lifetime, result, at) : notStored;
  const ofSource =
    complete && sourceError !== null
      ? missingHeaders(lifetime, environment.missingAgeSeconds, at)
      : ofImage;
  const caching = ofSource.map(
    ([name, value]) =>
      [name, document !== undefined && value === immutable ? documentCaching : value] as const,
  );
  const ofError: Headers = sourceError === null ? [] : [['x-fallback', sourceError.code]];
  const headers = [...imageHeaders(sent, result, caching, urlHeaders), ...ofError];
  const response =
    expires === null ? backgroundResponse(headers) : imageResponse(sent, headers, ifNoneMatch);
  observed.sent(subject, send(request, response));
  const isRepeated =
    complete &&
    sourceError === null &&
    document === undefined &&
    !result.isProvisional &&
    !isTemporary(image);
  if (expires === null || entry === null || !isRepeated) return;
  context.responses.set(context.cacheKey, {
    project: state,
    subject,
    entry,
    headers: null,
    urlHeaders,
    lifetime: { ...lifetime, expires },
  });
}
