import { percentDecode } from './url-text.ts';

/** Replaces a possible secret. */
export const redactedMark = '…';
const maxUrlLength = 300;
const maxValueLength = 80;

export const cutText = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length - 1).toWellFormed() + redactedMark;

/** Source parameters that identify an image or its size. Any other value might be a secret. */
const identifying = new Set(
  `alt asset asset_id assetid file filename fit fm fmt format h height id image image_id imageid img lang media
  media_id mediaid name p page path photo photo_id product q quality rev rotate size sku src type v variant ver version
  w width`.split(/\s+/),
);
/** Parameters of presigned URLs. If one occurs, all values are redacted. */
const presigned =
  /^(?:x-(?:amz|goog|oss|cos|ms|obs)-|(?:signature|sig|token|expires|policy|key-pair-id|se|sp|sr|sv)$)/i;
const plainName = /^[A-Za-z][\w.-]{0,23}(?:\[\w{0,10}\])?$/;
/** Starts a JSON Web Token. */
const webToken = /eyJ[\w-]{8}/;
const pathParameter = /(;[\w-]{1,40}=)[^/;]*/g;
const nestedUrl = /https?(?::|%(?:25)*3A)/i;
/** A query or a fragment in a path, encoded any number of times. */
const pathQuery = /%(?:25)*(?:3F|23).*/is;
/** Starts a path segment that might be a user and a password. */
const segmentUser = /^.*(?:@|%(?:25)*40)/is;
const colon = /:|%(?:25)*3A/i;
/** Characters that start another part of a URL, encoded any number of times. */
const urlPart = /[?#&@]|%(?:25)*(?:3F|23|26|40)/i;

/** Removes tokens and control characters from a path or a value. */
export const withoutTokens = (text: string): string =>
  text
    .replaceAll(/\p{C}/gu, '\u{fffd}')
    .replaceAll(/[\w.-]+/g, withoutWebToken)
    .replaceAll(pathParameter, `$1${redactedMark}`);

/** Takes linear time, unlike a pattern of the whole token. */
function withoutWebToken(word: string): string {
  const at = word.search(webToken);
  return at === -1 || !word.includes('.', at) ? word : word.slice(0, at) + redactedMark;
}

/**
 * Returns a path without secrets. A URL in the path, such as another proxy's, can contain secrets
 * too.
 */
function redactPath(path: string): string {
  const at = path.search(nestedUrl);
  return at === -1
    ? withoutUserAndQuery(path)
    : withoutUserAndQuery(path.slice(0, at)) + redactText(path.slice(at));
}

/** A URL in a path can lack its scheme and contain an encoded query. */
function withoutUserAndQuery(path: string): string {
  const segments = path.replace(pathQuery, redactedMark).split('/');
  const shown = segments.map((segment) =>
    segment.replace(segmentUser, (user) => (colon.test(user) ? `${redactedMark}@` : user)),
  );
  return withoutTokens(shown.join('/'));
}

function redactQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters];
  const isPresigned = pairs.some(([name]) => presigned.test(name));
  const shown = pairs.map(([name, value]) => {
    if (value === '' && !identifying.has(name))
      return /^\d{1,14}$/.test(name) ? name : redactedMark;
    if (!plainName.test(name)) return redactedMark;
    // A nested URL or query can contain secrets.
    const isShown = !isPresigned && identifying.has(name.toLowerCase()) && !urlPart.test(value);
    const text = isShown ? withoutTokens(value) : redactedMark;
    return `${name}=${cutText(text, maxValueLength)}`;
  });
  return shown.length === 0 ? '' : `?${shown.join('&')}`;
}

/** Returns a source, except the user and query values that might be secrets. */
export function redactSource({ protocol, host, pathname, searchParams }: URL): string {
  return cutText(
    `${protocol}//${host}${redactPath(pathname)}${redactQuery(searchParams)}`,
    maxUrlLength,
  );
}

/** Enough to find repeatedly encoded queries and credentials. */
const maxDecodings = 4;

/** Returns a source or a path that might not be a URL, without secrets. */
export function redactText(text: string): string {
  let decoded = text.slice(0, 2 * maxUrlLength).toWellFormed();
  for (let times = 0; times <= maxDecodings; times += 1) {
    if (/^https?:/i.test(decoded) && URL.canParse(decoded)) return redactSource(new URL(decoded));
    const next = percentDecode(decoded);
    if (next === null) return redactedMark;
    if (next === decoded) return cutText(withoutTokens(withoutCredentials(decoded)), maxUrlLength);
    decoded = next;
  }
  return redactedMark;
}

/** Removes everything that might be a user or a query. */
function withoutCredentials(text: string): string {
  const queryAt = text.search(/[?#]/);
  // The @ can end a user with a ? in its password, or belong to the query.
  if (queryAt !== -1 && text.includes('@', queryAt)) return redactedMark;
  return text
    .replace(/(:?\/\/?).*@/s, '$1')
    .replace(/^[^/]*:[^@]*@/, '')
    .replace(/[?#].*/s, '');
}
