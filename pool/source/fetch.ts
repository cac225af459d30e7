import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { canonicalUrl, isLongAuthority, readAuthority } from '../../contract/hosts.ts';
import { type BodyLimits, BodyWriter, releaseBody, sourceTooLarge } from './body.ts';
import { DecodingWriter, parseCoding } from './coding.ts';
import type { Connections } from './connections.ts';
import {
  contentLength,
  exchange,
  type Response,
  type ResponseHead,
  type Writer,
} from './exchange.ts';
import { type Deadline, withinDeadline } from './fetch-deadline.ts';
import { fetchFailureText, findErrorCode } from './fetch-errors.ts';
import type { AddressGuard } from './guard.ts';
import { RedirectCookies } from './redirect-cookies.ts';
import type { ResponseBudget } from './response-budget.ts';
import {
  mediaType,
  type OriginFreshness,
  originFreshness,
  parseRetryAfter,
  wholeLength,
} from './response-headers.ts';

/** Request headers by lower-case name. */
export type SourceHeaders = Readonly<Record<string, string>>;

export interface FetchOptions extends Deadline, Omit<BodyLimits, 'length'> {
  readonly guard: AddressGuard;
  /** The identifier of this deployment in CDN-Loop. */
  readonly loopId: string;
  readonly userAgent: string;
  /** The request's trace headers, sent to the origin. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
  readonly connections: Pick<Connections, 'dispatch'>;
  /** The path to send instead of the URL's, if a URL cannot contain it; without redirects. */
  readonly path?: string;
  /** Additional headers, sent only while redirects keep the URL's scheme, host and port. */
  readonly credentials?: SourceHeaders;
  /** 5 by default. */
  readonly maxRedirects?: number;
  /** Called with the canonical host of every redirect. */
  readonly isAllowedHost: (host: string) => boolean;
  /**
   * Validators of known bytes, sent only to the URL that they belong to; absent for an
   * unconditional fetch.
   */
  readonly validators?: Validators;
}

/**
 * A response's validators (RFC 9110, 8.8), as received; null if absent, too long or unprintable.
 */
export interface Validators {
  /** The URL after redirects that the validators belong to, as `urlDigest` returns it, or null. */
  readonly resource: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Facts from an origin about a response's bytes. */
export interface OriginResponse {
  readonly validators: Validators;
  readonly freshness: OriginFreshness;
}

export interface Fetched extends OriginResponse {
  /** Reserved in the budget and allocated until the caller releases them. */
  readonly bytes: Uint8Array;
  /** The response's media type, such as `text/html`; null if absent or invalid. */
  readonly contentType: string | null;
}

/** The response to a conditional request for unchanged bytes (RFC 9110, 15.4.5). */
export interface NotModified extends OriginResponse {
  readonly bytes: null;
}

const defaultMaxRedirects = 5;

/** Error codes of a connection closed before the response. */
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Returns a URL's digest, because a redirect's URL can be many kilobytes long. */
export const urlDigest = ({ href }: URL): string => hash('sha256', href, 'base64url').slice(0, 22);

/** Matches validators that conditional requests can send. */
const plainValidator = /^[\x20-\x7e]{1,512}$/;

/** Statuses with their own error code. */
const statuses: Readonly<Record<number, { readonly code: ErrorCode; readonly text: string }>> = {
  401: { code: 'source_unauthorized', text: 'The source requires a login' },
  403: { code: 'source_forbidden', text: 'The source server refuses access to the source' },
  404: { code: 'source_not_found', text: 'The source was not found' },
  410: { code: 'source_not_found', text: 'The source was not found' },
  429: { code: 'source_rate_limited', text: 'The source server is receiving too many requests' },
};

/** Next steps after a response from the source server. */
const hints = {
  serverError: 'The source server failed. Check its log, then retry.',
  clientError: 'Check the source URL and its query: the source server refuses this request.',
  redirects:
    'Follow the redirects with curl -IL and use the final URL. They may loop, for example between http and https, or need cookies.',
  truncated:
    'Check why the source server, or a proxy in front of it, ends the response early: a timeout, for example, or a wrong Content-Length. Then retry.',
};

const headers = {
  // Lists formats of originals first, so that a negotiating origin does not send a version for
  // browsers.
  accept: 'image/png,image/jpeg,image/gif,image/svg+xml,image/tiff,image/*;q=0.8,*/*;q=0.1',
  'accept-encoding': 'identity',
};

/**
 * Fetches a source. Follows at most 5 redirects, each checked like the first URL and by
 * `isAllowedHost`. Accepts the statuses 200 and 203, 206 with all bytes, and 304 for a conditional
 * request. Other statuses without their own code are source_unreachable, including unusable
 * redirects.
 *
 * @throws ServiceError, or the signal's reason
 */
export function fetchSource(url: URL, options: FetchOptions): Promise<Fetched | NotModified> {
  return withinDeadline(options, (signal, report) => follow(url, { ...options, signal }, report));
}

async function follow(
  first: URL,
  options: FetchOptions,
  report: (step: string) => void,
): Promise<Fetched | NotModified> {
  const { guard, isAllowedHost, maxRedirects = defaultMaxRedirects } = options;
  await guard.checkFetched(first);
  let url = canonicalUrl(first);
  let credentials = options.credentials ?? {};
  const cookies = new RedirectCookies();
  for (let redirects = 0; ; redirects += 1) {
    report(`waiting for ${url.hostname}`);
    const validators = validatorsFor(url, options);
    const sent = withCookies(credentials, cookies.headerFor(url));
    const ask = (known: Validators | null) => request(url, sent, known, options, report);
    let response = await ask(validators);
    if (response.status === 304 && validators !== null) {
      const known = originResponse(response.headers, url);
      if (validatorsMatch(known.validators, validators)) return { ...known, bytes: null };
      response = await ask(null);
    }
    const location = redirectTarget(response);
    if (location === null) return fetched(response, url, options);

    cookies.store(response.headers['set-cookie'], url);
    if (redirects >= maxRedirects)
      throw badResponse(url, 'redirects too often', undefined, hints.redirects);
    const next = resolve(location, url);
    try {
      await guard.checkFetched(next);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'source_blocked') throw error;
      throw badResponse(url, 'redirects to a URL that is not allowed as a source', error);
    }
    const target = canonicalUrl(next);
    // Another scheme, host or port never gets the credentials, nor does the first host if a later
    // redirect leads back to it.
    if (target.origin !== url.origin) credentials = {};
    url = target;
    if (!isAllowedHost(url.hostname)) throw notAllowed(url.hostname);
  }
}

/** Returns a request's configured headers, with the cookies from its redirects. */
function withCookies(credentials: SourceHeaders, cookies: string | null): SourceHeaders {
  if (cookies === null) return credentials;
  const configured = credentials['cookie'];
  return { ...credentials, cookie: configured ? `${configured}; ${cookies}` : cookies };
}

export function notAllowed(host: string): ServiceError {
  return new ServiceError(
    'source_not_allowed',
    `The source redirects to ${host}, which is not allowed.`,
  );
}

async function request(
  url: URL,
  credentials: SourceHeaders,
  validators: Validators | null,
  options: FetchOptions,
  report: (step: string) => void,
): Promise<Response> {
  const { connections, signal } = options;
  const sent = {
    origin: url.origin,
    path: options.path ?? url.pathname + url.search,
    method: 'GET' as const,
    headers: {
      ...options.traceHeaders,
      'user-agent': options.userAgent,
      ...headers,
      ...credentials,
      ...conditionalHeaders(validators),
      'cdn-loop': options.loopId,
    },
  };
  let isReceiving = false;
  const send = () =>
    exchange(connections, sent, signal, (head, budget) => {
      isReceiving = true;
      report(`reading from ${url.hostname}`);
      return writerFor(head, options, budget);
    });
  try {
    return await send().catch((error: unknown) => {
      // An origin can close an idle connection while the request is being sent (RFC 9112, 9.3.1).
      const isBroken = !isReceiving && brokenConnection.has(findErrorCode(error) ?? '');
      if (isBroken && !signal.aborted) return send();
      throw error;
    });
  } catch (error) {
    throw isReceiving
      ? asFailure(error, url, 'incomplete response from', hints.truncated)
      : asFailure(error, url, 'no valid response from');
  }
}

/**
 * Returns the validators for a URL's request: another URL's validators would compare another file.
 */
function validatorsFor(url: URL, { validators }: FetchOptions): Validators | null {
  const isKnown = validators !== undefined && validators.resource === urlDigest(url);
  return isKnown && (validators.etag ?? validators.lastModified) !== null ? validators : null;
}

/**
 * Returns false for a 304 with other validators, which does not concern the known bytes (RFC 9111,
 * 4.3.4).
 */
function validatorsMatch(answered: Validators, known: Validators): boolean {
  const opaque = (etag: string) => etag.replace(/^W\//, '');
  if (answered.etag !== null && known.etag !== null) {
    return opaque(answered.etag) === opaque(known.etag);
  }
  return [known.lastModified, null].includes(answered.lastModified);
}

/**
 * Returns a conditional request's headers. If-Modified-Since counts only for an origin that does
 * not support If-None-Match (RFC 9110, 13.1.3).
 */
function conditionalHeaders(validators: Validators | null): Record<string, string> {
  const { etag = null, lastModified = null } = validators ?? {};
  return {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
}

/** Creates the writer for a response's source; returns null for a response without a source. */
function writerFor(
  head: ResponseHead,
  options: FetchOptions,
  budget: ResponseBudget,
): Writer | null {
  const { status, headers } = head;
  const isWhole = status === 200 || status === 203 || readWholeLength(head) !== null;
  if (!isWhole) return null;
  const { maxBytes } = options;
  const length = contentLength(head);
  if (length !== null && length > maxBytes) throw sourceTooLarge(maxBytes);
  const coding = parseCoding(headers['content-encoding']);
  const limits = { ...options, length };
  return coding === null ? new BodyWriter(limits) : new DecodingWriter(coding, limits, budget);
}

/**
 * Returns the length of a partial response that contains all bytes, which some servers send
 * unasked.
 */
const readWholeLength = ({ status, headers }: ResponseHead): number | null =>
  status === 206 ? wholeLength(headers['content-range']) : null;

function redirectTarget({ status, headers }: ResponseHead): string | null {
  if (![301, 302, 303, 307, 308].includes(status)) return null;
  return typeof headers['location'] === 'string' ? headers['location'] : null;
}

function resolve(header: string, base: URL): URL {
  const location = decodeHeader(header);
  if (isLongAuthority(readAuthority(location))) {
    throw badResponse(base, 'redirects to a URL with a host that is too long');
  }
  try {
    return new URL(location, base);
  } catch (error) {
    throw badResponse(base, 'redirects to an invalid URL', error);
  }
}

/**
 * Returns a header's text. Bytes beyond ASCII are UTF-8, as in browsers, or else Latin-1, as in
 * undici.
 */
function decodeHeader(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : header;
}

function fetched(received: Response, url: URL, options: FetchOptions): Fetched {
  const { status, headers, bytes, receivedBytes } = received;
  const response = originResponse(headers, url);
  if (bytes === null) throw badStatus(url, status, headers);
  if (receivedBytes !== (readWholeLength(received) ?? receivedBytes)) {
    releaseBody(bytes, options);
    throw badStatus(url, status, headers);
  }
  return { ...response, bytes, contentType: mediaType(headers['content-type']) };
}

function originResponse(headers: ResponseHead['headers'], url: URL): OriginResponse {
  const validator = (header: string | string[] | undefined): string | null =>
    typeof header === 'string' && plainValidator.test(header) ? header : null;
  return {
    validators: {
      resource: urlDigest(url),
      etag: validator(headers['etag']),
      lastModified: validator(headers['last-modified']),
    },
    freshness: originFreshness(headers['cache-control'], headers['age']),
  };
}

function asFailure(error: unknown, url: URL, what: string, hint?: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = findErrorCode(error);
  const late = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return new ServiceError(
    late ? 'source_timeout' : 'source_unreachable',
    fetchFailureText('response', error, url.hostname, `${what} ${url.hostname}`),
    error,
    hint === undefined || late ? {} : { hint },
  );
}

function badStatus(url: URL, status: number, headers: ResponseHead['headers']): ServiceError {
  const meaning = Object.hasOwn(statuses, status) ? statuses[status] : undefined;
  if (meaning === undefined) {
    const hint = status >= 500 ? hints.serverError : status >= 400 ? hints.clientError : undefined;
    return badResponse(url, `returned ${status}`, undefined, hint);
  }
  const wait = status === 429 ? parseRetryAfter(headers['retry-after'], Date.now()) : null;
  const text = `${meaning.text}: ${url.hostname} returned ${status}.`;
  const details = wait === null ? {} : { retryAfter: wait };
  return new ServiceError(meaning.code, text, undefined, details);
}

function badResponse(url: URL, what: string, cause?: unknown, hint?: string): ServiceError {
  const text = `The source could not be fetched (response): ${url.hostname} ${what}.`;
  return new ServiceError('source_unreachable', text, cause, hint === undefined ? {} : { hint });
}
