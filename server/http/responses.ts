import { ServiceError } from '../../contract/errors.ts';
import { entityTag } from '../../pool/image.ts';

/** Lower-case header names with values. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** HEAD and 304 responses omit the body, but can send its length. */
  readonly body: Uint8Array | string | null;
}

/** Headers of an uncacheable response, which is complete if it has no body. */
export const uncachedHeaders: Headers = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

export const jsonHeaders: Headers = [['content-type', 'application/json'], ...uncachedHeaders];

/** Lets scripts of any page read the response (Fetch standard, CORS protocol). */
export const readableAnywhere: Headers = [['access-control-allow-origin', '*']];

/**
 * Lets any page also embed the response, even with cross-origin isolation, and its scripts read the
 * headers and the timing.
 */
export const embeddableAnywhere: Headers = [
  ...readableAnywhere,
  ['access-control-expose-headers', '*'],
  ['timing-allow-origin', '*'],
  ['cross-origin-resource-policy', 'cross-origin'],
];

/** Adds headers, which replace others of the same name. */
export function withHeaders(response: HttpResponse, more: Headers): HttpResponse {
  const replaced = new Set(more.map(([name]) => name));
  const kept = response.headers.filter(([name]) => !replaced.has(name));
  return { ...response, headers: [...kept, ...more] };
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

/** A response with an entity tag. */
export interface TaggedResponse extends HttpResponse {
  readonly etag: string;
}

export function tagged(response: HttpResponse): TaggedResponse {
  const etag = entityTag(Buffer.from(response.body ?? ''));
  return { ...response, headers: [...response.headers, ['etag', etag]], etag };
}

/** Returns the response, or 304 for a client that already has it. */
export function ifModified({ etag, ...whole }: TaggedResponse, ifNoneMatch: string): HttpResponse {
  if (!isNotModified(ifNoneMatch, etag)) return whole;
  // RFC 9110, 15.4.5: omit headers about the body.
  const headers = whole.headers.filter(([name]) => name !== 'content-type');
  return { status: 304, headers, body: whole.body };
}

export class MethodNotAllowed extends ServiceError {
  readonly path: string;
  readonly allowed: readonly string[];

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(
      'method_not_allowed',
      `${method.slice(0, 40)} is not allowed at ${path.slice(0, 200)}, only ${allowed.join(', ')}.`,
    );
    this.path = path;
    this.allowed = allowed;
  }
}

/**
 * Retry-After in seconds. Overload usually ends quickly; a full queue takes longer. The service
 * notices the end of a store outage within two seconds.
 */
const retryAfterSeconds: Partial<Record<ServiceError['code'], number>> = {
  overloaded: 1,
  prewarm_queue_full: 60,
  store_unavailable: 2,
};

/**
 * WWW-Authenticate for 401 (RFC 9110, 11.6.1; RFC 6750, 3), which includes an error only if the
 * request sent a key.
 */
const challenges: Partial<Record<ServiceError['code'], string>> = {
  api_key_missing: 'Bearer realm="image-delivery"',
  api_key_invalid: 'Bearer realm="image-delivery", error="invalid_token"',
};

/** Returns the response to an error, without CORS headers, which depend on the route. */
export function errorResponse(error: ServiceError): HttpResponse {
  const headers = [...jsonHeaders];
  const wait = error.details.retryAfter ?? retryAfterSeconds[error.code];
  if (wait !== undefined) headers.push(['retry-after', String(wait)]);
  const challenge = challenges[error.code];
  if (challenge !== undefined) headers.push(['www-authenticate', challenge]);
  if (error instanceof MethodNotAllowed) headers.push(['allow', error.allowed.join(', ')]);
  return { status: error.status, headers, body: JSON.stringify(error.toBody()) };
}
