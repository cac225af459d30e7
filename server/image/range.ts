import { RangeNotSatisfiable } from '../http/error-response.ts';

/** A part of a body: its first and last byte, both inclusive, counted from 0. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Longer headers hold more than a single range, in characters. */
const maxLength = 512;

/**
 * Reads a Range header (RFC 9110, 14.1.2). Null for the whole body: malformed ranges and other units must
 * be ignored, several ranges may be.
 *
 * @param length of the body in bytes
 */
export function readRange(range: string, length: number): ByteRange | RangeNotSatisfiable | null {
  if (range.length > maxLength) return null;
  const set = /^bytes=(.*)$/i.exec(range)?.[1];
  if (set === undefined) return null;
  // RFC 9110, 5.6.1.2: a list may have empty elements.
  const [spec, another] = set.split(',').flatMap((element) => element.trim() || []);
  const [, first = '', last = ''] = /^(\d*)-(\d*)$/.exec(spec ?? '') ?? [];
  if (another !== undefined || (first === '' && last === '')) return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const [from, to] =
    first === ''
      ? [Math.max(0, length - Number(last)), length - 1]
      : [Number(first), last === '' ? length - 1 : Math.min(Number(last), length - 1)];
  return from < length ? { first: from, last: to } : new RangeNotSatisfiable(length);
}

/**
 * Whether If-Range is absent or matches an entity tag (RFC 9110, 13.1.5). The comparison is strong, and
 * dates never match, because images have no Last-Modified.
 */
export function ifRangeMatches(ifRange: string, etag: string): boolean {
  return ifRange === '' || ifRange === etag;
}
