import { RangeNotSatisfiable } from '../http/range-not-satisfiable.ts';

/** A part of a body, from its first to its last byte, both inclusive, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** A single range is shorter, in characters. */
const maxLength = 512;

/**
 * The part of a body that a Range header asks for (RFC 9110, 14.1.2), or null for the whole body: what
 * is malformed or in another unit has to be ignored, and several ranges may be.
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
 * Whether a range may be taken from a body with this entity tag (RFC 9110, 13.1.5): strong comparison,
 * so that no weak tag matches; no date does either, as an image has no Last-Modified.
 */
export function ifRangeMatches(ifRange: string, etag: string): boolean {
  return ifRange === '' || ifRange === etag;
}
