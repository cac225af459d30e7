import type { HttpRequest } from '../http/request.ts';
import { RangeNotSatisfiable } from '../http/responses.ts';

/** Conditional and range headers, or '' for each unsent header. */
export interface Conditions {
  readonly ifNoneMatch: string;
  readonly range: string;
  readonly ifRange: string;
}

export function readConditions(request: HttpRequest): Conditions {
  // RFC 9110, 14.2 defines ranges only for GET.
  const range = request.method === 'GET' ? request.header('range') : '';
  return {
    ifNoneMatch: request.header('if-none-match'),
    range,
    ifRange: range === '' ? '' : request.header('if-range'),
  };
}

/** More entity tags than a client stores per URL. */
const maxTags = 100;

/**
 * Returns whether If-None-Match names an entity tag (RFC 9110, 13.1.2: weak comparison, lists,
 * `*`).
 */
export function isNotModified(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',', maxTags).some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

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
