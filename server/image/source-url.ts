import { ServiceError } from '../../contract/errors.ts';
import { isLongAuthority, readAuthority } from '../../contract/hosts.ts';
import { isEncodedUrl, likelyUrl, percentDecode } from '../../contract/url-text.ts';
import type { ProjectFreshness } from '../../store/projects.ts';
import { either, type ParameterType } from './values.ts';

/** Maximum length of a source URL, in characters. */
export const maxSourceLength = 8_192;

const invalid = (message: string) => new ServiceError('source_invalid', message);

function hint(text: string): string {
  const likely = likelyUrl(text);
  if (likely === undefined) return '';
  const encoded = isEncodedUrl(text) ? ' It is percent-encoded more than once.' : '';
  return `${encoded} Did you mean ${likely.slice(0, 200).toWellFormed()}?`;
}

/** A source in a URL: absolute, or a path relative to the project's `origin`. */
export type SourceReference = Pick<URL, 'href' | 'hostname'>;

/**
 * Reads an absolute source, or a path such as `/coast.jpg`.
 * @throws ServiceError source_invalid
 */
export function readSourceReference(text: string): SourceReference {
  const written = text.trim();
  const isPath = isSitePath(written) && written.length <= maxSourceLength;
  return isPath ? { href: written, hostname: '' } : readSource(written);
}

/**
 * Returns whether a text is a path from a site's root. Excludes hosts: the URL standard reads `/\`
 * as `//`, and ignores tabs and line breaks.
 */
const sitePath = /^\/(?![\t\n\r]*[/\\])/;
const isSitePath = (text: string): boolean => sitePath.test(text);

/** Returns a source's URL, resolving a path as on a page of the project's site. */
export function resolveSource(source: SourceReference, origin: string): URL {
  if (source instanceof URL) return source;
  const resolved = new URL(source.href, origin);
  resolved.hash = '';
  return resolved;
}

/** Returns an absolute source's URL, or a sentence about the text's fault. */
export function parseSource(text: string): URL | string {
  const written = text.trim();
  if (written.length > maxSourceLength) {
    return `The source URL has more than ${maxSourceLength} characters.`;
  }
  if (isLongAuthority(readAuthority(written))) return 'The host of the source URL is too long.';
  // The WHATWG parser accepts even `https:example.com`.
  if (!/^https?:\/\/[^/]/i.test(written) || !URL.canParse(written)) {
    return `The source must be an absolute http or https URL.${hint(written)}`;
  }
  const source = new URL(written);
  if (source.username !== '' || source.password !== '') {
    return 'The source URL must not contain a user name or password.';
  }
  source.hash = '';
  return source;
}

/** @throws ServiceError source_invalid */
export function readSource(text: string): URL {
  const source = parseSource(text);
  if (typeof source === 'string') throw invalid(source);
  return source;
}

/** The value of `fallback`, serialised by the URL standard. */
export const sourceUrl: ParameterType<string> = {
  accepts: 'an absolute http or https URL',
  schema: { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/]', maxLength: maxSourceLength },
  parse(text) {
    const source = text === text.trim() ? parseSource(text) : '';
    return typeof source === 'string' ? undefined : source.href;
  },
};

/** The value of `overlay`: a URL, or a path on the project's origin. */
export const sourceReference = either(sourceUrl, {
  accepts: "a path on the project's origin",
  schema: { type: 'string', pattern: sitePath.source, maxLength: maxSourceLength },
  parse: (text) => (isSitePath(text) && [...text].length <= maxSourceLength ? text : undefined),
});

/** @throws ServiceError source_invalid */
export function decodeSource(text: string): string {
  const decoded = percentDecode(text);
  if (decoded === null) throw invalid('The source URL in the path is not encoded properly.');
  return decoded;
}

/** Percent-encodes all but unreserved characters (RFC 3986, 2.3), as most languages do. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The parameters that presign URLs, by service, as their documentations list them. */
export const presigningParameters: Readonly<Record<string, readonly string[]>> = {
  // Signature versions 4 and 2, and CloudFront.
  aws: `X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires X-Amz-Security-Token X-Amz-Signature
    X-Amz-SignedHeaders AWSAccessKeyId Expires Signature Policy Key-Pair-Id Hash-Algorithm`.split(
    /\s+/,
  ),
  gcs: `X-Goog-Algorithm X-Goog-Credential X-Goog-Date X-Goog-Expires X-Goog-Signature
    X-Goog-SignedHeaders GoogleAccessId Expires Signature`.split(/\s+/),
  azure:
    'sv ss srt sr si se sp spr st sip sig sdd skoid sktid skt ske sks skv saoid suoid scid'.split(
      ' ',
    ),
  firebase: ['token'],
};

const readName = (pair: string): string => new URLSearchParams(pair).keys().next().value ?? '';

/**
 * Returns a source's URL without the parameters that do not identify it, for keys and tags. Fetches
 * use the URL itself.
 */
export function sourceIdentity(url: URL, freshness: ProjectFreshness | undefined): URL {
  const ignored = freshness?.ignoredParameters ?? null;
  if (ignored === null || url.search === '') return url;
  const names = new Set(ignored.flatMap((name) => presigningParameters[name] ?? [name]));
  const pairs = url.search.slice(1).split('&');
  const kept = pairs.filter((pair) => !names.has(readName(pair)));
  if (kept.length === pairs.length) return url;
  const identity = new URL(url);
  identity.search = kept.join('&');
  return identity;
}
