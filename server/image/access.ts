import { createHmac } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import { isPublicHost } from '../../pool/source/addresses.ts';
import type { Project } from '../../store/projects.ts';
import { expiryFault, isSame } from '../../urls/src/index.ts';
import { type ImageAddress, imagePrefix, isImagePath, sourceInPath } from './address.ts';
import { checkForeignSignature, readRequestAddress } from './host-address.ts';
import { isForeign, type Site } from './site.ts';
import { percentEncode } from './source-url.ts';

/** Returns whether a project's allowlist contains a host, with or without a trailing dot. */
export function isAllowedHost(project: Project, host: string): boolean {
  const canonical = canonicalHost(host);
  return canonical !== null && hostMatches(project.allowedOrigins, canonical);
}

const withoutSignature = (query: string): string =>
  query
    .split('&')
    .filter((pair) => !pair.startsWith('sig='))
    .join('&');

/** The signed text: the path from `/img` on and the unchanged query, except `sig`. */
export const signedText = (path: string, query: string): string =>
  `${path}?${withoutSignature(query)}`;

/** Maximum size of a request head, in bytes. */
const maxSignedPath = 16_384;

/**
 * Returns the paths that the client might have signed: proxies turn `//` into `/`, or decode an
 * encoded source. All these paths name the same source, so each signature is safe to accept.
 */
function signedPaths(path: string): string[] {
  const source = sourceInPath(path);
  if (source === null) return [path];
  const written = [encodeURIComponent(source), percentEncode(source)];
  // Unencoded, these characters would end the source's path.
  if (!/[?#]/.test(source)) written.push(source);
  const sent = written
    .map((writtenPath) => imagePrefix + writtenPath)
    .filter((sentPath) => sentPath.length <= maxSignedPath);
  return [...new Set([path, ...sent])];
}

/** The secrets that can sign a project's URLs: two during a rotation. */
export const signingSecrets = ({
  signingSecret,
  previousSigningSecret,
}: Project): readonly string[] =>
  [signingSecret, previousSigningSecret].filter((secret) => typeof secret === 'string');

/** base64url HMAC-SHA256. */
export function signature(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

const privateHint =
  "Add the host to the project's allowlist, which accepts a private host only if the operator has allowed it in SERVICE_PRIVATE_SOURCES.";

/** @throws ServiceError source_not_allowed when the allowlist does not contain the source's host */
export function checkSource(project: Project, source: URL): void {
  if (isAllowedHost(project, source.hostname)) return;
  throw new ServiceError(
    'source_not_allowed',
    `The host ${source.hostname} is not on the project's allowlist.`,
    undefined,
    isPublicHost(canonicalHost(source.hostname) ?? '') ? {} : { hint: privateHint },
  );
}

/** Returns the expiry of a validly signed URL, Unix ms, or the reason for rejecting the signature. */
function readSignature(
  project: Project,
  { parameters, host }: ImageAddress,
  path: string,
  query: string,
  now: number,
): number | string {
  const exp = parameters.get('exp') ?? '';
  const given = parameters.get('sig') ?? '';
  if (given === '' || exp === '') return 'This project needs signed URLs, with exp and sig.';
  const fault = expiryFault('exp', exp);
  if (fault !== null) return fault;
  const unsigned = withoutSignature(query);
  const paths = host === null ? signedPaths(path) : [`//${host}${path}`];
  const texts = paths.map((signedPath) => `${signedPath}?${unsigned}`);
  const authentic = signingSecrets(project).some((secret) =>
    texts.some((text) => isSame(given, signature(secret, text))),
  );
  if (!authentic) return 'The signature does not match the URL.';

  const expires = Number(exp) * 1_000;
  if (expires <= now) return 'The signed URL has expired.';
  const ttl = project.signedUrlTtlSeconds;
  const isTooLate = ttl !== null && expires > now + ttl * 1_000;
  return isTooLate ? `exp must be at most ${ttl} seconds ahead.` : expires;
}

/**
 * Checks the URL's signature. Requires a signature if the project does. Always requires one for
 * another service's URLs that carry a signature.
 * @returns whether the signature is valid, and the URL's expiry (Unix ms): infinite without `exp`,
 *   or if the project does not require signatures
 * @throws ServiceError signature_invalid
 */
export function checkSignature(
  project: Project,
  address: ImageAddress,
  path: string,
  query: string,
  now: number,
): { readonly isSigned: boolean; readonly expires: number } {
  const { dialect, parameters } = address;
  if (dialect !== null) {
    const exp = parameters.get('exp') ?? '';
    const expires = exp === '' ? Number.POSITIVE_INFINITY : Number(exp) * 1_000;
    const isSigned = checkForeignSignature(dialect, project, path, query, expires, now);
    return { isSigned, expires };
  }
  const expires = readSignature(project, address, path, query, now);
  const isSigned = typeof expires === 'number';
  if (!project.requireSignedUrls) return { isSigned, expires: Number.POSITIVE_INFINITY };
  if (!isSigned) throw new ServiceError('signature_invalid', expires);
  return { isSigned, expires };
}

interface SignUrlOptions {
  readonly projectId: string;
  /** Returns the site of a canonical host, or null if it is not a delivery host of the project. */
  readonly siteAt: (host: string) => Site | null;
  readonly secret: string;
  /** Unix seconds. */
  readonly exp: number;
  /** The base URL's path, unsigned because a proxy removes it. */
  readonly basePath: string;
  /** Throws to refuse signing the URL. */
  readonly check?: (address: ImageAddress) => void;
}

/**
 * Signs an image URL: its path and query, or a delivery host's URL.
 *
 * @throws ServiceError with `check`, as `readAddress` does
 * @returns null if the text is not an image URL, is already signed, or belongs to another project
 *   or service
 */
export function signImageUrl(
  text: string,
  { projectId, siteAt, secret, exp, basePath, check }: SignUrlOptions,
): string | null {
  const [, origin = '', whole = '', query = ''] =
    /^(https?:\/\/[^/\s]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?$/.exec(text) ?? [];
  const site = siteAt((URL.canParse(origin) && canonicalHost(new URL(origin).hostname)) || '');
  const base = basePath.replace(/\/$/, '');
  const isBelowBase = site === null && whole.startsWith(`${base}/img`);
  const path = isBelowBase ? whole.slice(base.length) : whole;
  if (site === null && !isImagePath(path)) return null;
  const given = new URLSearchParams(query);
  if (given.has('sig') || given.has('exp')) return null;
  const named = given.getAll('project').join();
  const isOther = site === null ? named !== projectId : named !== '' && named !== projectId;
  if (isOther) return null;
  if (site !== null && !isImagePath(path) && isForeign(site)) return null;
  check?.(readRequestAddress(path, query, site));
  const withExp = `${query === '' ? '' : `${query}&`}exp=${exp}`;
  const host = isImagePath(path) ? '' : `//${site?.host.host}`;
  const sig = signature(secret, signedText(host + path, withExp));
  return `${origin}${whole}?${withExp}&sig=${sig}`;
}
