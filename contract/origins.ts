import { isAbsolute, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canonicalAuthority } from './hosts.ts';
import { parseS3Location, type S3Location } from './s3-location.ts';
import { percentDecode } from './url-text.ts';

/** The place of a host's sources, or the headers of requests for them. */
type OriginTarget =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly location: S3Location }
  | { readonly kind: 'headers'; readonly headers: OriginHeaders };

export interface OriginEntry {
  /** Host and port, as `canonicalAuthority` returns them. */
  readonly host: string;
  /** The only project that can use the entry; null for every project that allows the host. */
  readonly projectId: string | null;
  readonly target: OriginTarget;
}

function parseParts(text: string) {
  const [, name = '', projectId = null, target = ''] =
    /^([^@=]+)(?:@(prj_[0-9a-z]{16}))?=(.+)$/s.exec(text) ?? [];
  return { name, projectId, target };
}

/** Parses `host=target` or `host@project=target`; null for other texts. */
export function parseOrigin(text: string): OriginEntry | null {
  const { name, projectId, target } = parseParts(text);
  const host = canonicalAuthority(name);
  const parsed = parseTarget(target);
  return host === null || parsed === null ? null : { host, projectId, target: parsed };
}

/**
 * Parses a list of entries, each host at most once per project and once for all other projects.
 * @throws RangeError that names the first invalid entry without its target, which can contain
 *   secrets
 */
export function parseOrigins(texts: readonly string[]): readonly OriginEntry[] {
  const entries = new Map<string, OriginEntry>();
  for (const [index, text] of texts.entries()) {
    const entry = parseOrigin(text);
    if (entry === null) throw new RangeError(`${describeEntry(text, index)} is not valid`);
    const key = originKey(entry);
    if (entries.has(key)) throw new RangeError(`${describeEntry(text, index)} repeats another one`);
    entries.set(key, entry);
  }
  return [...entries.values()];
}

/**
 * After an unencoded comma, the rest of a secret can look like a host, but no target follows it.
 */
function describeEntry(text: string, index: number): string {
  const { name, target } = parseParts(text);
  const host = /^(?:s3|file|headers):/.test(target) ? canonicalAuthority(name) : null;
  return host === null ? `entry ${index + 1}` : `entry ${index + 1} (${host})`;
}

export const originKey = ({ host, projectId }: Pick<OriginEntry, 'host' | 'projectId'>): string =>
  `${projectId ?? ''}@${host}`;

/** Returns the texts that logs must not contain. */
export const secretsOfOrigins = (entries: readonly OriginEntry[]): readonly string[] =>
  entries.flatMap(({ target }) =>
    target.kind === 'headers' ? secretsOfHeaders(target.headers) : [],
  );

function parseTarget(text: string): OriginTarget | null {
  if (text.startsWith('headers:')) return parseHeaders(text.slice('headers:'.length));
  if (text.startsWith('file:')) return parseFolder(text);
  if (text.startsWith('s3:')) return parseBucket(text);
  return null;
}

/** Parses `name=value&…`, percent-encoded. A plus sign is not a space, because Base64 contains plus signs. */
function parseHeaders(text: string): OriginTarget | null {
  // An empty name or value is not valid.
  const decoded = (part: string) => percentDecode(part) ?? '';
  const pairs = text.split('&').map((pair) => {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    return [decoded(name), decoded(value)] as const;
  });
  const headers = readOriginHeaders(pairs);
  return headers && { kind: 'headers', headers };
}

function parseBucket(text: string): OriginTarget | null {
  try {
    return { kind: 's3', location: parseS3Location(text) };
  } catch {
    return null;
  }
}

/** Parses a local folder's URL; returns null for the root folder. */
function parseFolder(text: string): OriginTarget | null {
  try {
    const url = new URL(text);
    if (!/^file:\/\/\//.test(text) || url.search !== '' || url.hash !== '') return null;
    const folder = normalize(fileURLToPath(url));
    const isFolder = isAbsolute(folder) && folder !== '/' && !folder.includes('\0');
    return isFolder ? { kind: 'folder', folder } : null;
  } catch {
    return null;
  }
}

/** Request headers for a host's sources, by lower-case name. Their values are secrets. */
export type OriginHeaders = Readonly<Record<string, string>>;

const maxHeaders = 16;
/** Maximum bytes of all names and values, plus four separator bytes per header. */
const maxHeadersBytes = 8_192;

/** RFC 9110, 5.6.2. */
const namePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Visible ASCII with inner spaces: no line breaks and no characters that a server could trim. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Headers that the service or the connection sets. Other values would direct the request to another
 * host, change the length or range of the response, or hide loops.
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

const isReserved = (name: string): boolean =>
  reserved.has(name) || name.startsWith('if-') || name.startsWith('proxy-');

/** The rules of headers, for error messages. */
export const originHeadersRule = `must be 1 to ${maxHeaders} headers, ${maxHeadersBytes / 1_024} KiB in total, with visible ASCII values. Host, Content-Length, Range, If-*, Accept-Encoding, CDN-Loop and connection headers are not allowed`;

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
function secretsOfHeaders(headers: OriginHeaders): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name))
    .flatMap(([, value]) => [value, /^\S+ (\S+)$/.exec(value)?.[1] ?? ''])
    .filter(({ length }) => length >= minSecretLength);
}
