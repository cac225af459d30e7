import { isAbsolute, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canonicalAuthority } from './hosts.ts';
import { type OriginHeaders, readOriginHeaders, secretsOfHeaders } from './origin-headers.ts';
import { parseS3Location, type S3Location } from './s3-location.ts';

/** The place of a host's sources, or the headers of requests for them. */
export type OriginTarget =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly location: S3Location }
  | { readonly kind: 'headers'; readonly headers: OriginHeaders };

/** An entry of SERVICE_ORIGINS. */
export interface OriginEntry {
  /** In the form of `canonicalAuthority`. */
  readonly host: string;
  /** The only project that uses the entry; null for all whose allowlist has the host. */
  readonly projectId: string | null;
  readonly target: OriginTarget;
}

/** Parses `host=target` or `host@project=target`; null for other texts. */
export function parseOrigin(text: string): OriginEntry | null {
  const [, name = '', projectId = null, target = ''] =
    /^([^@=]+)(?:@(prj_[0-9a-z]{16}))?=(.+)$/s.exec(text) ?? [];
  const host = canonicalAuthority(name);
  const parsed = parseTarget(target);
  return host === null || parsed === null ? null : { host, projectId, target: parsed };
}

/** Whether each host has at most one entry for a project, and at most one without a project. */
export function areDistinct(entries: readonly OriginEntry[]): boolean {
  return new Set(entries.map(originKey)).size === entries.length;
}

export const originKey = ({ host, projectId }: Pick<OriginEntry, 'host' | 'projectId'>): string =>
  `${projectId ?? ''}@${host}`;

/** The texts that no log may contain. */
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
  try {
    const pairs = text.split('&').map((pair) => {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
      return [decodeURIComponent(name), decodeURIComponent(value)] as const;
    });
    const headers = readOriginHeaders(pairs);
    return headers && { kind: 'headers', headers };
  } catch {
    return null;
  }
}

function parseBucket(text: string): OriginTarget | null {
  try {
    return { kind: 's3', location: parseS3Location(text) };
  } catch {
    return null;
  }
}

/** Parses the URL of a folder on this machine; null for the root folder. */
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
