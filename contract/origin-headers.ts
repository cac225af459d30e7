/** Request headers for a host's sources, by lower-case name. Their values are secrets. */
export type OriginHeaders = Readonly<Record<string, string>>;

const maxHeaders = 16;
/** Maximum bytes of all names and values, plus four separator bytes per header. */
const maxHeadersBytes = 8_192;

/**
 * RFC 9110, 5.6.2. The OpenAPI document contains these patterns, so they are valid in all dialects.
 */
export const headerNameSource = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$";
/** Visible ASCII with inner spaces: no line breaks and no characters that a server could trim. */
export const headerValueSource = '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$';
const namePattern = new RegExp(headerNameSource);
const valuePattern = new RegExp(headerValueSource);

/**
 * Headers that the service or the connection sets. Other values would direct the request to another host, change
 * the length or range of the response, or hide loops.
 */
const reserved = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'accept-encoding',
  'range',
  'cdn-loop',
  'traceparent',
  'tracestate',
]);

/** Returns a pattern source that matches `text` in upper or lower case. */
const anyCase = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

/** Matches forbidden names. */
export const reservedHeaderSource = `^(?:${[...reserved].map(anyCase).join('|')}|${anyCase('if-')}.*|${anyCase('proxy-')}.*)$`;

const isReserved = (name: string): boolean =>
  reserved.has(name) || name.startsWith('if-') || name.startsWith('proxy-');

/** The rules of headers, for error messages. */
export const originHeadersRule = `must be 1 to ${maxHeaders} headers of at most ${maxHeadersBytes} bytes together, with values of visible ASCII characters, and without Host, Content-Length, Range, If-*, Accept-Encoding, CDN-Loop and headers of the connection`;

/** Headers with lower-case names; null when they break the rules. */
export function readOriginHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): OriginHeaders | null {
  const entries = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  const names = new Set(entries.map(([name]) => name));
  const isValid =
    entries.length >= 1 &&
    entries.length <= maxHeaders &&
    names.size === entries.length &&
    bytes <= maxHeadersBytes &&
    entries.every(
      ([name, value]) => namePattern.test(name) && !isReserved(name) && valuePattern.test(value),
    );
  return isValid ? Object.fromEntries(entries) : null;
}

/** Shorter values, such as `true`, are not secret, and redacting them would garble many texts. */
const minSecretLength = 8;
const publicHeaders = new Set(['user-agent', 'accept', 'accept-language']);

/** The texts that must not be in a log: the values, and the token of `Bearer <token>`. */
export function secretsOfHeaders(headers: OriginHeaders): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name))
    .flatMap(([, value]) => [value, /^\S+ (\S+)$/.exec(value)?.[1] ?? ''])
    .filter(({ length }) => length >= minSecretLength);
}
