import type { S3Location } from '../../contract/s3-location.ts';

/** Encodes also the characters that encodeURIComponent leaves, as Signature Version 4 requires. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The URL of a location's bucket, whose path ends with a slash. */
export function bucketUrl({ bucket, endpoint, style }: S3Location): URL {
  if (style === 'path') return new URL(`${endpoint}/${bucket}/`);
  const url = new URL(`${endpoint}/`);
  url.hostname = `${bucket}.${url.hostname}`;
  return url;
}

/**
 * The URL of an object, encoded as signatures require.
 *
 * @param key below the location's prefix, decoded
 * @throws RangeError for a key that is empty, not well-formed Unicode, or has a segment `.` or `..`, which URL
 *   parsers resolve: the URL could name an object outside of the prefix
 */
export function objectUrl(location: S3Location, key: string): URL {
  const segments = key.split('/');
  if (key === '' || !key.isWellFormed() || segments.includes('.') || segments.includes('..')) {
    throw new RangeError('the key of an object cannot be part of a URL');
  }
  const path = (location.prefix + key).split('/').map(encodeSegment).join('/');
  return new URL(bucketUrl(location).href + path);
}
