import type { S3Location } from '../../contract/s3-location.ts';

/** Encodes characters that encodeURIComponent leaves, as Signature Version 4 requires. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Returns the URL of a location's bucket, with a trailing slash. */
export function bucketUrl({ bucket, endpoint, style }: S3Location): URL {
  if (style === 'path') return new URL(`${endpoint}/${bucket}/`);
  const url = new URL(`${endpoint}/`);
  url.hostname = `${bucket}.${url.hostname}`;
  return url;
}

/**
 * Returns an object's path, encoded as signatures require. A URL cannot contain every path: parsers
 * resolve the segments `.` and `..`.
 *
 * @param key below the location's prefix, decoded
 * @throws RangeError for a key that is empty or malformed Unicode, or that could leave the prefix
 *   on a server that resolves `..`
 */
export function objectPath(location: S3Location, key: string): string {
  if (key === '' || !key.isWellFormed() || leavesPrefix(key)) {
    throw new RangeError('the key of an object cannot be part of a URL');
  }
  const path = (location.prefix + key).split('/').map(encodeSegment).join('/');
  return bucketUrl(location).pathname + path;
}

/**
 * Returns whether the resolved path is the prefix itself or above it. Counts repeated slashes as
 * one.
 */
function leavesPrefix(key: string): boolean {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(key)) return false;
  let depth = 0;
  for (const segment of key.split('/')) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return depth === 0;
}
