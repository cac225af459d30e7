/**
 * How to retry calls. A 429 is always retried: the service refuses before any work. A 503, a lost
 * connection, a timeout, and a proxy's 502 or 504 are retried if the call is safe to repeat, which
 * excludes `createProject` and calls with a `callbackUrl`.
 */
export interface RetryOptions {
  /** Maximum retries after the first attempt; 0 disables them. Default: 3. */
  readonly count?: number;
  /**
   * Latest start of a retry in ms after the call's start; a longer `Retry-After` ends the call.
   * Default: 30,000.
   */
  readonly withinMs?: number;
}

export interface ClientOptions {
  /** The service's address, such as `https://img.example.com`; a path is allowed. */
  readonly baseUrl: string;
  /**
   * An API key of the service, `sk_…`. It is in no error and in no field of the client.
   * `createClient` throws if it is missing.
   */
  readonly apiKey: string | undefined;
  /** Sends the requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Milliseconds for the whole response to one attempt. Default: 30,000. */
  readonly timeoutMs?: number;
  /** How to retry calls after temporary failures. */
  readonly retries?: RetryOptions;
  /** The most bytes of a response. Default: 16 MiB. */
  readonly maxResponseBytes?: number;
}

/** How requests reach the service. */
export interface Connection {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly authorization: string;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly retries: RetryOptions;
  readonly maxResponseBytes: number;
  /** Removes the key from a text that the client did not write. */
  readonly redact: (text: string) => string;
}

/**
 * @throws TypeError naming the invalid option, without its value, which can contain the key or a
 *   password in a URL
 */
export function readOptions(options: ClientOptions): Connection {
  const { apiKey, timeoutMs = 30_000, retries = {}, maxResponseBytes = 16 * 1024 * 1024 } = options;
  if (apiKey === undefined || apiKey === '') {
    throw new TypeError('apiKey is missing: pass an API key, sk_…');
  }
  // `fetch` would name the header, with the key, in its error.
  if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key: visible ASCII characters, without spaces');
  }
  requireNumber('timeoutMs', timeoutMs, 1);
  requireNumber('maxResponseBytes', maxResponseBytes, 1);
  const { count = 0, withinMs = 0 } = retries;
  requireNumber('retries.count', count, 0);
  requireNumber('retries.withinMs', withinMs, 0);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    authorization: `Bearer ${apiKey}`,
    // Browsers refuse a call of `fetch` as a method. Each call reads the global one, because tests replace it.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs,
    retries,
    maxResponseBytes,
    redact: (text) => text.replaceAll(apiKey, '[API key]'),
  };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAllowed = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isAllowed || url.username + url.password + url.search + url.hash !== '') {
    throw new TypeError(
      'baseUrl must be an absolute http or https URL without user name, password, query and fragment',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** The longest delay of a timer, in ms. */
const maxNumber = 2 ** 31 - 1;

/** @throws TypeError */
export function requireNumber(name: string, value: number, least: number): void {
  if (typeof value === 'number' && value >= least && value <= maxNumber) return;
  throw new TypeError(`${name} must be a number from ${least} to ${maxNumber}`);
}
