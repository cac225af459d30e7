import { RangeNotSatisfiable } from '../http/error-response.ts';

/** A part of a body: its first and last byte, both inclusive, counted from 0. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Maximum header length, in characters. Longer headers contain several ranges. */
const maxLength = 512;

/**
 * Reads a Range header (RFC 9110, 14.1.2). Returns null to send the whole body: servers must ignore
 * malformed ranges and other units, and can ignore several ranges.
 *
 * @param length body size in bytes
 */
export function readRange(range: string, length: number): ByteRange | RangeNotSatisfiable | null {
  if (range.length > maxLength) return null;
  const set = /^bytes=(.*)$/i.exec(range)?.[1];
  if (set === undefined) return null;
  // RFC 9110, 5.6.1.2 allows empty list elements.
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
 * Returns whether If-Range is absent or matches an entity tag (RFC 9110, 13.1.5). The comparison is
 * strong, and dates never match, because images do not send Last-Modified.
 */
export function ifRangeMatches(ifRange: string, etag: string): boolean {
  return ifRange === '' || ifRange === etag;
}
