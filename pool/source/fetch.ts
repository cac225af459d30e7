import type { Dispatcher } from 'undici';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost } from '../../contract/hosts.ts';
import { gather, tooLarge } from './body.ts';
import type { ByteBudget } from './budget.ts';
import { decode } from './coding.ts';
import { codeOf, inBrackets } from './connections.ts';
import type { AddressGuard } from './guard.ts';

export interface FetchOptions {
  readonly guard: AddressGuard;
  /** Names this service in CDN-Loop, so that it knows its own requests by whatever way they return. */
  readonly loopId: string;
  /** Connections that the guard watches; see openConnections. */
  readonly connections: Dispatcher;
  /** Asked for the host of every redirect, in its canonical form. */
  readonly allowed: (host: string) => boolean;
  readonly maxBytes: number;
  readonly budget: ByteBudget;
  /** For everything together, ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const maxRedirects = 5;

/** Taken to mean that the connection broke before any of the answer was there. */
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const headers = {
  'user-agent': 'image-delivery/0.1',
  // Formats that lose nothing more come first: an origin that negotiates should hand out its
  // original and not a picture that was made for a browser.
  accept: 'image/png,image/jpeg,image/gif,image/svg+xml,image/tiff,image/*;q=0.8,*/*;q=0.1',
  'accept-encoding': 'identity',
};

/**
 * One guarded fetch. It follows at most 5 redirects, each checked like the first URL and by
 * `allowed`; the bytes are counted as they come.
 *
 * 200 and 203 are a source. 404 and 410 are source_not_found. Every other status is
 * source_unreachable: 401 and 403 too, since a refusal says nothing about whether the source is
 * there; and 206, since no part was asked for. A redirect that cannot be followed is the origin's
 * fault, so source_unreachable as well.
 *
 * @returns the bytes, alone in their buffer, and reserved in the budget until the caller releases them
 * @throws ServiceError, or the signal's reason
 */
export async function fetchSource(url: URL, options: FetchOptions): Promise<Uint8Array> {
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
    // Ends what a redirect's body or a failed response still has under way.
    ending.abort();
  }
}

async function follow(
  first: URL,
  options: FetchOptions,
  report: (step: string) => void,
): Promise<Uint8Array> {
  const { guard, allowed } = options;
  guard.check(first);
  let url = canonical(first);
  for (let redirects = 0; ; redirects += 1) {
    report(`waiting for ${url.hostname}`);
    const response = await request(url, options);
    report(`reading from ${url.hostname}`);
    const location = redirectTarget(response);
    if (location === null) return read(response, url, options);

    // A short body is read to its end, so that the connection can be used again.
    response.body.dump({ limit: 16 * 1024, signal: options.signal }).catch(() => {});
    if (redirects >= maxRedirects) throw badResponse(url, 'redirects too often');
    const next = resolve(location, url);
    try {
      guard.check(next);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'source_blocked') throw error;
      throw badResponse(url, 'redirects to what is no source', error);
    }
    url = canonical(next);
    if (!allowed(url.hostname)) throw notAllowed(url.hostname);
  }
}

/** A checked URL as it is asked for and remembered: no fragment, no trailing dot of the host. */
export function canonical(url: URL): URL {
  const copy = new URL(url);
  copy.hash = '';
  copy.hostname = canonicalHost(url.hostname) ?? url.hostname;
  return copy;
}

export function notAllowed(host: string): ServiceError {
  return new ServiceError('source_not_allowed', `The source redirects to ${host}, not allowed.`);
}

async function request(url: URL, options: FetchOptions): Promise<Dispatcher.ResponseData> {
  const { connections, signal } = options;
  const send = () =>
    // undici hears an abort only once the request is on a connection.
    unlessAborted(
      connections.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: { ...headers, 'cdn-loop': options.loopId },
        signal,
      }),
      signal,
    );
  try {
    return await send().catch((error: unknown) => {
      // An origin may close a kept connection just as the request is under way (RFC 9112, 9.3.1).
      if (brokenConnection.has(codeOf(error) ?? '') && !signal.aborted) return send();
      throw error;
    });
  } catch (error) {
    throw asFailure(error, url, 'no valid answer from');
  }
}

function redirectTarget({ statusCode, headers }: Dispatcher.ResponseData): string | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  return typeof headers['location'] === 'string' ? headers['location'] : null;
}

function resolve(location: string, base: URL): URL {
  try {
    return new URL(location, base);
  } catch (error) {
    throw badResponse(base, 'redirects to no valid URL', error);
  }
}

async function read(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  { maxBytes, budget }: FetchOptions,
): Promise<Uint8Array> {
  // A body that is left unread ends in an error that nobody waits for.
  body.on('error', () => {});
  if (statusCode === 404 || statusCode === 410) {
    const text = `The source was not found: ${url.hostname} answered ${statusCode}.`;
    throw new ServiceError('source_not_found', text);
  }
  if (statusCode !== 200 && statusCode !== 203) throw badResponse(url, `answered ${statusCode}`);

  const length = contentLength(headers['content-length']);
  if (length !== null && length > maxBytes) throw tooLarge(maxBytes);
  const coding = headers['content-encoding'] ?? '';
  const raw = failing(body, url);
  const chunks = typeof coding === 'string' ? decode(raw, coding, maxBytes) : null;
  if (chunks === null) {
    const text = 'The source has a content coding that is not supported.';
    throw new ServiceError('source_unsupported', text);
  }
  return gather(chunks, { maxBytes, budget, length: chunks === raw ? length : null });
}

async function* failing(body: AsyncIterable<Uint8Array>, url: URL) {
  try {
    yield* body;
  } catch (error) {
    throw asFailure(error, url, 'the answer broke off from');
  }
}

/** undici has made sure that there is at most one and that the body is as long as it says. */
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
    `The source could not be fetched (response): ${what} ${url.hostname}${inBrackets(code)}.`,
    error,
  );
}

function badResponse(url: URL, what: string, cause?: unknown): ServiceError {
  const text = `The source could not be fetched (response): ${url.hostname} ${what}.`;
  return new ServiceError('source_unreachable', text, cause);
}
