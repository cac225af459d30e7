import type { Project } from '../../store/projects.ts';
import { canonicalName, hasTooManyParameters, isImagePath } from './address.ts';

/** Stands for what may be a secret. */
const hidden = '…';
const maxUrlLength = 300;
const maxValueLength = 80;

const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length - 1).toWellFormed() + hidden;

/** Parameters of sources that name a picture or its size. The values of all others may be secrets. */
const identifying = new Set(
  `alt asset asset_id assetid file filename fit fm fmt format h height id image image_id imageid img lang media
  media_id mediaid name p page path photo photo_id product q quality rev rotate size sku src type v variant ver version
  w width`.split(/\s+/),
);
/** Parameters of presigned URLs, none of whose values are shown. */
const presigned =
  /^(?:x-(?:amz|goog|oss|cos|ms|obs)-|(?:signature|sig|token|expires|policy|key-pair-id|se|sp|sr|sv)$)/i;
const plainName = /^[A-Za-z][\w.-]{0,23}(?:\[\w{0,10}\])?$/;
const webToken = /eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;
const pathParameter = /(;[\w-]{1,40}=)[^/;]*/g;
const nestedUrl = /https?(?::|%(?:25)*3A)/i;

/** A path or a value without tokens and control characters. */
const withoutTokens = (text: string): string =>
  text
    .replaceAll(/\p{C}/gu, '\u{fffd}')
    .replaceAll(webToken, hidden)
    .replaceAll(pathParameter, `$1${hidden}`);

/** A path; a URL in it, as of another proxy, may have secrets of its own. */
function shownPath(path: string): string {
  const at = path.search(nestedUrl);
  return at === -1
    ? withoutTokens(path)
    : withoutTokens(path.slice(0, at)) + shownText(path.slice(at));
}

function shownQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters];
  const isPresigned = pairs.some(([name]) => presigned.test(name));
  const shown = pairs.map(([name, value]) => {
    if (value === '' && !identifying.has(name)) return /^\d{1,14}$/.test(name) ? name : hidden;
    if (!plainName.test(name)) return hidden;
    // A nested URL has secrets of its own.
    const isShown = !isPresigned && identifying.has(name.toLowerCase()) && !/[?@]/.test(value);
    const text = isShown ? withoutTokens(value) : hidden;
    return `${name}=${cut(text, maxValueLength)}`;
  });
  return shown.length === 0 ? '' : `?${shown.join('&')}`;
}

/** A source without the user, and without values of its query that may be secrets. */
export function shownSource({ protocol, host, pathname, searchParams }: URL): string {
  return cut(`${protocol}//${host}${shownPath(pathname)}${shownQuery(searchParams)}`, maxUrlLength);
}

/** Enough to find a query and credentials that are encoded several times. */
const maxDecodings = 4;

/** A source or a path that may be no URL. */
export function shownText(text: string): string {
  let decoded = text.slice(0, 2 * maxUrlLength).toWellFormed();
  for (let times = 0; times <= maxDecodings; times += 1) {
    if (/^https?:/i.test(decoded) && URL.canParse(decoded)) return shownSource(new URL(decoded));
    const next = decode(decoded);
    if (next === null) return hidden;
    if (next === decoded) return cut(withoutTokens(withoutCredentials(decoded)), maxUrlLength);
    decoded = next;
  }
  return hidden;
}

/** A text without all that may be a user or a query. */
const withoutCredentials = (text: string): string =>
  text
    .replace(/(:?\/\/?).*@/s, '$1')
    .replace(/^[^/]*:[^@]*@/, '')
    .replace(/[?#].*/s, '');

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A failed request without secrets; the project may have hosts with the URLs of other services. */
export function shownRequest({ path, query, source, project }: RequestedUrl) {
  const shown = source instanceof URL ? shownSource(source) : shownText(source?.href ?? '');
  const hosts = Object.values(project?.hosts ?? {});
  const isNative = hosts.every(({ urls = 'native' }) => urls === 'native');
  return { source: shown, url: shownUrl(path, query, shown, isNative) };
}

interface RequestedUrl {
  readonly path: string;
  readonly query: string;
  /** Null if the URL could not be read. */
  readonly source: Pick<URL, 'href'> | null;
  readonly project: Pick<Project, 'hosts'> | null;
}

/** The parameters of an image by their canonical names, without signatures, words and unknown parameters. */
export function shownParameters(parameters: Iterable<readonly [string, string]>): string {
  const shown: string[] = [];
  for (const [spelling, value] of parameters) {
    const name = canonicalName(spelling);
    if (name === undefined) continue;
    const text = name === 'fallback' ? shownText(value) : withoutTokens(value.toWellFormed());
    shown.push(`${name}=${cut(text, maxValueLength)}`);
  }
  return cut(shown.sort().join('&'), maxUrlLength);
}

/**
 * The path and the parameters of an image's URL.
 *
 * @param source as shown; '' if the URL cannot be read
 * @param isNative false for a path that another service's rules may put a signature into
 */
export function shownUrl(path: string, query: string, source: string, isNative = true): string {
  const parameters = new URLSearchParams(hasTooManyParameters(query) ? '' : query);
  const own = isNative ? shownText(path) : source || hidden;
  const unread = shownText(path.replace(/^\/img\/?/, '') || (parameters.get('url') ?? ''));
  const shown = isImagePath(path) ? `/img/${source === '' ? unread : source}` : own;
  const text = shownParameters(parameters);
  const separator = shown.includes('?') ? ' ' : '?';
  return text === '' ? shown : `${shown}${separator}${text}`;
}
