import type { Dispatcher } from 'undici';
import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { authorityOf, canonicalHost, isLongAuthority } from '../../contract/hosts.ts';
import { readBody, tooLarge } from './body.ts';
import type { Reservation } from './budget.ts';
import { decode } from './coding.ts';
import type { Connections } from './connections.ts';
import { codeOf, fetchFailureText } from './fetch-errors.ts';
import type { AddressGuard } from './guard.ts';
import { mediaType, retryAfter } from './response-headers.ts';
import type { SharedMemory } from './shared-memory.ts';

export interface FetchOptions {
  readonly guard: AddressGuard;
  /**
   * Identifies this service in CDN-Loop, so that it detects its own requests, even through proxies.
   */
  readonly loopId: string;
  /** The headers of the request's trace, which the origin gets. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
  /** Connections restricted by the guard; see openConnections. */
  readonly connections: Pick<Connections, 'request'>;
  /** Called with the canonical host of every redirect. */
  readonly allowed: (host: string) => boolean;
  readonly maxBytes: number;
  readonly budget: Reservation;
  readonly memory: SharedMemory;
  /** Timeout of the fetch including redirects, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Fetched {
  /** In a buffer of their own, reserved in the budget and allocated until the caller releases them. */
  readonly bytes: Uint8Array;
  /** The media type that the origin named, such as `text/html`; null when it named no valid one. */
  readonly contentType: string | null;
}

const maxRedirects = 5;

/** Error codes of a connection that was closed before any part of the response arrived. */
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Statuses that tell more than that the source could not be fetched. */
const statuses: Readonly<Record<number, { readonly code: ErrorCode; readonly text: string }>> = {
  401: { code: 'source_unauthorized', text: 'The source requires a login' },
  403: { code: 'source_forbidden', text: 'The source server refuses access to the source' },
  404: { code: 'source_not_found', text: 'The source was not found' },
  410: { code: 'source_not_found', text: 'The source was not found' },
  429: { code: 'source_rate_limited', text: 'The source server gets too many requests' },
};

const headers = {
  'user-agent': 'image-delivery/0.1',
  // The formats in which originals are stored come first, so that an origin that negotiates sends
  // its original and not a version converted for browsers.
  accept: 'image/png,image/jpeg,image/gif,image/svg+xml,image/tiff,image/*;q=0.8,*/*;q=0.1',
  'accept-encoding': 'identity',
};

/**
 * One guarded fetch. It follows at most 5 redirects. Each is checked like the first URL, and by
 * `allowed`. The size limit is enforced while the body arrives.
 *
 * 200 and 203 are accepted. 404 and 410 are source_not_found; 401, 403 and 429 have codes of their
 * own. Every other status is source_unreachable, including 206, because no range was requested. A
 * redirect that cannot be followed is an origin error, so it is source_unreachable too.
 *
 * @throws ServiceError, or the signal's reason
 */
export async function fetchSource(url: URL, options: FetchOptions): Promise<Fetched> {
  const { signal, timeoutMs } = options;
  signal.throwIfAborted();
  const ending = new AbortController();
  const abort = () => ending.abort(signal.reason);
  let step = '';
  const timer = setTimeout(() => {
    const text = `The source did not arrive within ${timeoutMs} ms (${step}).`;
    ending.abort(new ServiceError('source_timeout', text));
  }, timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await follow(url, { ...options, signal: ending.signal }, (now) => {
      step = now;
    });
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // Cancels the unread body of a redirect or of a failed response.
    ending.abort();
  }
}

async function follow(
  first: URL,
  options: FetchOptions,
  report: (step: string) => void,
): Promise<Fetched> {
  const { guard, allowed } = options;
  guard.check(first);
  let url = canonical(first);
  for (let redirects = 0; ; redirects += 1) {
    report(`waiting for ${url.hostname}`);
    const response = await request(url, options);
    report(`reading from ${url.hostname}`);
    const location = redirectTarget(response);
    if (location === null) return read(response, url, options);

    // A short body is read to its end, so that the connection can be reused.
    response.body.dump({ limit: 16 * 1024, signal: options.signal }).catch(() => {});
    if (redirects >= maxRedirects) throw badResponse(url, 'redirects too often');
    const next = resolve(location, url);
    try {
      guard.check(next);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'source_blocked') throw error;
      throw badResponse(url, 'redirects to a URL that is not allowed as a source', error);
    }
    url = canonical(next);
    if (!allowed(url.hostname)) throw notAllowed(url.hostname);
  }
}

/** The URL as requested and as cache key: without the fragment and a trailing dot of the host. */
export function canonical(url: URL): URL {
  const copy = new URL(url);
  copy.hash = '';
  copy.hostname = canonicalHost(url.hostname) ?? url.hostname;
  return copy;
}

export function notAllowed(host: string): ServiceError {
  return new ServiceError(
    'source_not_allowed',
    `The source redirects to ${host}, which is not allowed.`,
  );
}

async function request(url: URL, options: FetchOptions): Promise<Dispatcher.ResponseData> {
  const { connections, signal } = options;
  const send = () =>
    // undici handles an abort only after the request was assigned to a connection.
    unlessAborted(
      connections.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: { ...options.traceHeaders, ...headers, 'cdn-loop': options.loopId },
        signal,
      }),
      signal,
    );
  try {
    return await send().catch((error: unknown) => {
      // An origin may close an idle connection while the request is being sent (RFC 9112, 9.3.1).
      if (brokenConnection.has(codeOf(error) ?? '') && !signal.aborted) return send();
      throw error;
    });
  } catch (error) {
    throw asFailure(error, url, 'no valid response from');
  }
}

function redirectTarget({ statusCode, headers }: Dispatcher.ResponseData): string | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  return typeof headers['location'] === 'string' ? headers['location'] : null;
}

function resolve(location: string, base: URL): URL {
  if (isLongAuthority(authorityOf(location))) {
    throw badResponse(base, 'redirects to a URL with a host that is too long');
  }
  try {
    return new URL(location, base);
  } catch (error) {
    throw badResponse(base, 'redirects to an invalid URL', error);
  }
}

async function read(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  { maxBytes, budget, memory }: FetchOptions,
): Promise<Fetched> {
  // An unread body emits an error when the fetch is cancelled; without a listener it would be
  // thrown.
  body.on('error', () => {});
  if (statusCode !== 200 && statusCode !== 203) throw badStatus(url, statusCode, headers);

  const length = contentLength(headers['content-length']);
  if (length !== null && length > maxBytes) throw tooLarge(maxBytes);
  const coding = headers['content-encoding'] ?? '';
  const raw = failing(body, url);
  const chunks = typeof coding === 'string' ? decode(raw, coding, maxBytes) : null;
  if (chunks === null) {
    const text = 'The source has a content coding that is not supported.';
    throw new ServiceError('source_unsupported', text);
  }
  const limits = { maxBytes, budget, memory, length: chunks === raw ? length : null };
  return { bytes: await readBody(chunks, limits), contentType: mediaType(headers['content-type']) };
}

async function* failing(body: AsyncIterable<Uint8Array>, url: URL) {
  try {
    yield* body;
  } catch (error) {
    throw asFailure(error, url, 'incomplete response from');
  }
}

/** undici verified that there is at most one, and verifies that the body has this length. */
function contentLength(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function asFailure(error: unknown, url: URL, what: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = codeOf(error);
  const late = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return new ServiceError(
    late ? 'source_timeout' : 'source_unreachable',
    fetchFailureText('response', error, url.hostname, `${what} ${url.hostname}`),
    error,
  );
}

function badStatus(
  url: URL,
  status: number,
  headers: Dispatcher.ResponseData['headers'],
): ServiceError {
  const meaning = Object.hasOwn(statuses, status) ? statuses[status] : undefined;
  if (meaning === undefined) return badResponse(url, `answered ${status}`);
  const wait = status === 429 ? retryAfter(headers['retry-after'], Date.now()) : null;
  const text = `${meaning.text}: ${url.hostname} answered ${status}.`;
  const details = wait === null ? {} : { retryAfter: wait };
  return new ServiceError(meaning.code, text, undefined, details);
}

function badResponse(url: URL, what: string, cause?: unknown): ServiceError {
  const text = `The source could not be fetched (response): ${url.hostname} ${what}.`;
  return new ServiceError('source_unreachable', text, cause);
}
