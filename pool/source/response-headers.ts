/** Maximum wait to pass on to clients, in seconds. */
const maxRetryAfter = 3_600;

/**
 * Returns Retry-After (RFC 9110, 10.2.3) in whole seconds from 1 to 3600; null if absent, invalid
 * or past.
 *
 * @param now Unix ms
 */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string' || header.length > 64) return null;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds >= 1 ? Math.min(seconds, maxRetryAfter) : null;
}

/**
 * Returns NaN for a text that is not an HTTP date. Date.parse also accepts others, such as `-5`.
 */
function secondsUntil(date: string, now: number): number {
  return /^[A-Z][a-z]+,? .*\d{2}:\d{2}:\d{2}/.test(date)
    ? Math.ceil((Date.parse(date) - now) / 1_000)
    : Number.NaN;
}

/**
 * Returns a Content-Type header's media type (RFC 9110, 8.3) in lower case without parameters; null
 * if absent or not a registrable name (RFC 6838, 4.2), so that error messages can contain it.
 */
export function mediaType(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  const [type = ''] = header.toLowerCase().split(';', 1);
  const name = type.trim();
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/.test(name)
    ? name
    : null;
}

/**
 * Returns the length of a Content-Range (RFC 9110, 14.4) that covers all bytes; null for other
 * values.
 */
export function wholeLength(header: string | string[] | undefined): number | null {
  const [, last, length] = /^bytes 0-(\d{1,15})\/(\d{1,15})$/i.exec(String(header)) ?? [];
  return length !== undefined && Number(last) === Number(length) - 1 ? Number(length) : null;
}

/** How long the origin allows using a source without revalidation. In seconds. */
export interface OriginFreshness {
  /**
   * `s-maxage` or `max-age` minus the response's `Age`, and 0 for `no-cache` and `no-store`; null
   * if absent.
   */
  readonly maxAge: number | null;
  /** RFC 5861, 3; null if absent. */
  readonly staleWhileRevalidate: number | null;
  /** RFC 5861, 4; null if absent. */
  readonly staleIfError: number | null;
}

/** For an origin that sends no caching headers. */
export const noFreshness: OriginFreshness = {
  maxAge: null,
  staleWhileRevalidate: null,
  staleIfError: null,
};

type Header = string | string[] | undefined;

const maxHeaderLength = 1_024;
/** More than any bound of an operator. */
const maxSeconds = 2 ** 31;

/** Reads the Cache-Control (RFC 9111, 5.2.2) and the Age of an origin's response. */
export function originFreshness(cacheControl: Header, age: Header): OriginFreshness {
  const text = [cacheControl ?? []].flat().join().slice(0, maxHeaderLength).toLowerCase();
  const directives = new Map<string, string>();
  for (const directive of text.split(',')) {
    const [name = '', value = ''] = directive.split('=', 2);
    // RFC 9111, 4.2.1: of repeated directives the first counts.
    if (!directives.has(name.trim())) directives.set(name.trim(), value.trim());
  }
  const read = (name: string): number | null => seconds(directives.get(name) ?? '');
  const isUncached = directives.has('no-cache') || directives.has('no-store');
  const maxAge = isUncached ? 0 : (read('s-maxage') ?? read('max-age'));
  const elapsed = typeof age === 'string' ? (seconds(age.trim()) ?? 0) : 0;
  return {
    maxAge: maxAge === null ? null : Math.max(0, maxAge - elapsed),
    staleWhileRevalidate: read('stale-while-revalidate'),
    staleIfError: read('stale-if-error'),
  };
}

/** Parses seconds (RFC 9111, 1.2.2), including a quoted string; returns null for other texts. */
function seconds(text: string): number | null {
  const digits = /^"?(\d+)"?$/.exec(text)?.[1];
  return digits === undefined ? null : Math.min(Number(digits), maxSeconds);
}
