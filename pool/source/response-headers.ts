/** Maximum wait that is passed on to clients, in seconds. */
const maxRetryAfter = 3_600;

/**
 * Retry-After (RFC 9110, 10.2.3) in whole seconds from 1 to 3600; null when it is absent, invalid
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

/** NaN for a text that is not an HTTP date. Date.parse also accepts others, such as `-5`. */
function secondsUntil(date: string, now: number): number {
  return /^[A-Z][a-z]+,? .*\d{2}:\d{2}:\d{2}/.test(date)
    ? Math.ceil((Date.parse(date) - now) / 1_000)
    : Number.NaN;
}

/**
 * The media type of a Content-Type header (RFC 9110, 8.3) in lower case without parameters; null when it is
 * absent, or not a name that can be registered (RFC 6838, 4.2), so that error messages may contain it.
 */
export function mediaType(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  const [type = ''] = header.toLowerCase().split(';', 1);
  const name = type.trim();
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/.test(name)
    ? name
    : null;
}

/** The length of a Content-Range (RFC 9110, 14.4) that contains all bytes; null for other values. */
export function wholeLength(header: string | string[] | undefined): number | null {
  const [, last, length] = /^bytes 0-(\d{1,15})\/(\d{1,15})$/i.exec(String(header)) ?? [];
  return length !== undefined && Number(last) === Number(length) - 1 ? Number(length) : null;
}
